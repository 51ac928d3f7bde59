"""Ranks three documents for a query, and shows what each channel and word adds to the best score, after `make demo`.

python examples/explain.py [RUN]
"""

import sys

from smooth_clir import Ranker

DOCUMENTS = {
    "wolf": "Le loup vit en meute dans les forêts du nord.",
    "volcano": "Un volcan rejette de la lave, une roche en fusion.",
    "planet": "Une planète tourne autour de son étoile.",
}

if __name__ == "__main__":
    ranker = Ranker.load(sys.argv[1] if len(sys.argv) > 1 else "runs/sample")
    query = "molten rock that flows down a mountain"

    best = ranker.rank(query, DOCUMENTS, explain=True)[0]
    print(best.doc_id, round(best.score, 3))
    for part in best.parts:
        print(f"{part.part:8.3f}", part.name)
        for word in part.words[:5]:
            print(f"{word.part:8.3f}   {word.query_term} <- {word.document_term}")
