"""Trains a ranker on pairs of a query and its document, here English and French first sentences of Wikipedia.

python examples/train_on_pairs.py [OUTPUT]
"""

import csv
import sys
from pathlib import Path

from smooth_clir import Ranker

SAMPLE = Path(__file__).parents[1] / "data" / "sample"


def rows(name: str) -> list[list[str]]:
    """The fields of each line."""
    with open(SAMPLE / name, encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


if __name__ == "__main__":
    queries = {query_id: text for query_id, _, text in rows("wiki_en.queries")}
    documents = {doc_id: text for doc_id, _, text in rows("wiki_fr.documents")}
    pairs = [(queries[query_id], documents[doc_id]) for query_id, doc_id, grade in rows("en2fr.rel") if grade == "2"]

    output = sys.argv[1] if len(sys.argv) > 1 else "runs/pairs"
    ranker = Ranker.train(pairs=pairs, query_language="en", document_language="fr", output=output)
    for hit in ranker.search("molten rock that flows down a mountain", top=3):
        print(hit.rank, round(hit.score, 3), hit.text[:60])
