"""Searches the collection of a run, after `make demo`.

python examples/search.py [RUN] [QUERY]
"""

import sys

from smooth_clir import Ranker

if __name__ == "__main__":
    run = sys.argv[1] if len(sys.argv) > 1 else "runs/sample"
    query = sys.argv[2] if len(sys.argv) > 2 else "molten rock that flows down a mountain"

    for hit in Ranker.load(run).search(query, top=5):
        print(hit.rank, round(hit.score, 3), hit.doc_id, hit.title)
