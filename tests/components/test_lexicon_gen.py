"""LexiconGen with TFX's artifacts."""

from hashlib import sha256
from pathlib import Path

import pytest

from models.lexicon.lexicon import read_lexicon
from models.texts.tokens import ALL_WORDS
from schemas.errors import DataError
from schemas.lexicon_report import LexiconReport
from tests.models.lexicon.small_lexicon import table_of

pytestmark = pytest.mark.stages  # it imports TFX

DOCUMENTS = {"d1": "Loup, vit en meute", "d2": "Chien", "d3": "Chien et loup"}
LISTS = {
    "q1": ("Wolf", {"d1": (DOCUMENTS["d1"], 3), "d2": (DOCUMENTS["d2"], 2)}),
    "q2": ("Dog", {"d2": (DOCUMENTS["d2"], 3), "d1": (DOCUMENTS["d1"], 0)}),
}


@pytest.fixture
def run(tmp_path, make_artifact, make_collection, make_examples):
    """Runs the stage with parameters; returns the lexicon and the report."""
    from components.lexicon_gen import LexiconGen

    def run(**settings):
        examples, written = make_examples(tmp_path, {}, LISTS), make_artifact("Lexicon", tmp_path)
        lines = ["two\tfields\n", *(f"{doc_id}\tA title\t{text}\n" for doc_id, text in DOCUMENTS.items())]
        collection = make_collection(tmp_path, {"documents": "".join(lines).encode()})
        defaults = {"kind": "lexicon", "languages": ("en", "fr"), "rules": ALL_WORDS, "top_grade": 3, "pairs": []}
        LexiconGen.test_call(examples, collection, written, map, **(defaults | {"max_bad_share": 0.0} | settings))
        report = (Path(written.uri) / "report.json").read_text()
        return read_lexicon(written.uri), LexiconReport.from_json(report)

    return run


def test_it_learns_from_the_mr_documents_of_the_train_lists_and_counts_the_whole_collection(run):
    lexicon, report = run()
    assert table_of(lexicon)["wolf"].keys() == {"loup", "vit", "en", "meute"}
    assert table_of(lexicon)["dog"].keys() == {"chien"}
    assert (report.train_pairs, report.pairs) == (2, None)
    assert (lexicon.record.documents, lexicon.record.mean_length) == (3, 8 / 3)  # without titles and broken lines


@pytest.mark.parametrize(
    ("pairs_weight", "title_weight", "translations_weight", "best"),
    [(8.0, 0.125, 0.125, "loup"), (0.125, 8.0, 0.125, "meute"), (0.125, 0.125, 8.0, "vit")],
)
def test_further_pairs_count_with_the_weights_of_their_kinds(
    run, make_artifact, tmp_path, pairs_weight, title_weight, translations_weight, best
):
    content = b"dog\tloup\n"
    (tmp_path / "dogs.tsv").write_bytes(content)
    titles = make_artifact("WikiClirFiles", tmp_path)
    (Path(titles.uri) / "title_pairs.tsv").write_bytes(b"dog\tmeute\n")
    translations = make_artifact("Translations", tmp_path)
    (Path(translations.uri) / "translations.tsv").write_bytes(b"dog\tvit\n")
    lexicon, report = run(
        pairs=[str(tmp_path / "dogs.tsv")],
        pairs_digest=sha256(content).hexdigest(),
        wikiclir_files=titles,
        pairs_weight=pairs_weight,
        title_pairs_weight=title_weight,
        translations=translations,
        translations_weight=translations_weight,
    )
    answers = table_of(lexicon)["dog"]
    assert max(answers, key=answers.get) == best
    weights = (report.pairs_weight, report.title_pairs_weight, report.translations_weight)
    assert (report.pairs["used"], *weights) == (3, pairs_weight, title_weight, translations_weight)


def test_pairs_other_than_those_of_the_digest_are_refused(run, tmp_path):
    (tmp_path / "pairs.tsv").write_bytes(b"cat\tchat\n")
    with pytest.raises(DataError, match=f"{tmp_path}/pairs.tsv .*channels.lexicon.pairs"):
        run(pairs=[str(tmp_path / "pairs.tsv")], pairs_digest=sha256(b"what stood there before").hexdigest())


def test_the_kinds_of_equal_words_count_and_learn_nothing(run):
    lexicon, report = run(kind="bm25")
    assert dict(zip(lexicon.terms, lexicon.document_frequency, strict=True))[b"loup"] == 2
    assert (report.train_pairs, report.translations) == (0, 0)
