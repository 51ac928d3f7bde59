"""Trains a ranker on DataFrames whose columns have names of their own, and whose judgments are stars.

python examples/train_on_tables.py [OUTPUT]
"""

import sys
from pathlib import Path

import pandas as pd

from smooth_clir import Ranker

SAMPLE = Path(__file__).parents[1] / "data" / "sample"
STARS = {0: 1.5, 1: 3.0, 2: 5.0}


def table(name: str, columns: list[str]) -> pd.DataFrame:
    """A file of tab-separated fields."""
    return pd.read_csv(SAMPLE / name, sep="\t", names=columns, dtype=str, quoting=3, keep_default_na=False)


if __name__ == "__main__":
    judgments = table("en2fr.rel", ["question", "page", "grade"])
    judgments["stars"] = judgments.pop("grade").astype(int).map(STARS)

    output = sys.argv[1] if len(sys.argv) > 1 else "runs/tables"
    ranker = Ranker.train(
        table("wiki_en.queries", ["number", "title", "sentence"]),
        table("wiki_fr.documents", ["number", "title", "body"]),
        judgments,
        columns={"id": ["number"], "query_id": ["question"], "doc_id": ["page"], "grade": ["stars"]},
        scale=[2.5, 4.5],  # 1 from 2.5 stars on, 2 from 4.5 on
        query_language="en",
        document_language="fr",
        output=output,
        settings={"training.epochs": 12},
    )
    print(ranker.search("molten rock that flows down a mountain", top=1)[0].title)
