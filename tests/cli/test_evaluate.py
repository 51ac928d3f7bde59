"""`clir evaluate` with a model of passages; tests/e2e/test_evaluate.py has the rest."""

from pathlib import Path

import pytest

from schemas.passages import PassageSettings
from tests.cli.command import Clir
from tests.models.loaded_once import model_with_words

pytestmark = pytest.mark.stages


def test_documents_have_the_scores_of_their_best_passages(clir: Clir, tmp_path: Path) -> None:
    model = model_with_words(passages=PassageSettings(words=2, overlap=1))
    documents = {"d1": "un chien lune chat blanc", "d2": "lune", "d3": "chien blanc"}
    files = {
        "queries": "q1\t\twhite cat\n",
        "documents": "".join(f"{doc_id}\t\t{text}\n" for doc_id, text in documents.items()),
        "candidates": "".join(f"q1\t{doc_id}\t{grade}\ttest\n" for grade, doc_id in enumerate(["d2", "d3", "d1"])),
    }
    options = []
    for role, content in files.items():
        (tmp_path / role).write_text(content)
        options += [f"--{role}", tmp_path / role]
    answer = clir("evaluate", model.path, *options, "--output", tmp_path / "out")
    assert answer.code == 0, answer.err
    lines = (line.split() for line in (tmp_path / "out" / "run.trec").read_text().splitlines())
    scores = {doc_id: float(score) for _, _, doc_id, _, score, _ in lines}
    best = model.best_passages("white cat", [*documents.values()])
    assert best[0] == "chat blanc"
    assert [scores[doc_id] for doc_id in documents] == pytest.approx(model.score("white cat", best)["scores"], abs=1e-6)
