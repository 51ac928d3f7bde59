"""Adds a document to a run's index, finds it, and removes it again, after `make demo`.

python examples/update_index.py [RUN]
"""

import sys

from smooth_clir import Ranker

if __name__ == "__main__":
    ranker = Ranker.load(sys.argv[1] if len(sys.argv) > 1 else "runs/sample")

    update = ranker.add([("etna", "L'Etna", "L'Etna est un volcan de Sicile dont la lave coule vers la mer.")])
    print(update.documents, "documents after", update.added, "was added")
    print([hit.doc_id for hit in ranker.search("a volcano in Sicily", top=3)])

    update = ranker.remove(["etna"])
    print(update.documents, "documents after", update.removed, "was removed")
