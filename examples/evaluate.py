"""Evaluates a run's ranking of its test queries with ir_measures (`pip install ir-measures`), after `make demo`.

python examples/evaluate.py [RUN]
"""

import sys
from pathlib import Path

import ir_measures
from ir_measures import AP, RR, nDCG

if __name__ == "__main__":
    evaluation = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/sample") / "evaluation"

    qrels = ir_measures.read_trec_qrels(str(evaluation / "qrels.trec"))
    run = ir_measures.read_trec_run(str(evaluation / "run.trec"))
    measures = [nDCG @ 5, AP, RR(rel=2)]
    values = ir_measures.calc_aggregate(measures, qrels, run)
    for measure in measures:
        print(measure, round(values[measure], 4))
