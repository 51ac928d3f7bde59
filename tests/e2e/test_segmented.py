"""A run on the sample as a segmented collection: one rule of words from the files to the explained search."""

import json
from pathlib import Path

import pytest

from models.exported.model import LoadedModel
from models.lexicon.lexicon import COLLECTION_FILE, CollectionRecord
from tests.e2e.process import SampleRun, forked

pytestmark = pytest.mark.long

SETTINGS = (
    "preset=best",
    "data.segmented=true",
    "data.max_document_tokens=3",
    "training.epochs=1",
    "search.index=true",
)


def test_white_space_alone_parts_the_words_of_every_stage(tmp_path: Path) -> None:
    given = (*SETTINGS, "search.index=true", "evaluation.minimums={}")
    run = SampleRun(tmp_path / "out", "configs/sample.yaml", *(part for one in given for part in ("--set", one)))
    assert run.code == 0, run.err
    vocabularies = [
        path.read_text(encoding="utf-8").split("\n") for path in run.output.rglob("assets/document_vocabulary")
    ]
    assert vocabularies and all(any("'" in word for word in words) for words in vocabularies)
    (record,) = (CollectionRecord.from_json(path.read_text()) for path in run.output.rglob(COLLECTION_FILE))
    assert (record.rules.max_tokens, record.rules.segmented) == (3, True)

    (version,) = run.versions
    model = LoadedModel(str(version))
    assert model.is_segmented
    explained = model.explain("the wolf", "«L'Été», un loup-garou dort")
    assert [(word.text, word.is_scored) for word in explained.words] == [
        ("L'Été", True),
        ("un", True),
        ("loup-garou", True),
        ("dort", False),
    ]
    asked = forked("search", run.output, "the wolf", "--json")
    assert asked.code == 0, asked.err
    assert json.loads(asked.out)["results"]
    shown = forked("lexicon", run.output, "--word", "four-legged")
    assert shown.code == 0, shown.err
    assert shown.out.startswith("four-legged, stem four\n")
