"""Updates of an index: whatever was done to it before, it holds what it should, and encodes what is new alone."""

from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from models.exported.model import LoadedModel
from models.lists.feedback import Feedback
from models.texts.passages import passages_of
from schemas.errors import DataError
from schemas.index_manifest import SEGMENTS, Drift, FieldRecord
from schemas.passages import PassageSettings, passage_id
from schemas.wikiclir import Text
from smooth_clir.retrieval.assemble_index import assemble_index
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.document_ranker import DocumentRanker
from smooth_clir.retrieval.engine import Engine
from smooth_clir.retrieval.index_versions import IndexVersions, push_index
from smooth_clir.retrieval.segment import encode_documents
from smooth_clir.retrieval.update_index import IndexUpdate, IndexUpdater
from smooth_clir.retrieval.where import Where
from tests.models.loaded_once import model_with_words

pytestmark = pytest.mark.stages

TEXTS = ["chat", "chien blanc", "un chat noir", "lune", "ararat", "zzz"]
DOCUMENTS = st.dictionaries(st.sampled_from("abcdefghij"), st.sampled_from(TEXTS), max_size=8)
STEPS = st.lists(
    st.tuples(st.booleans(), DOCUMENTS, st.sets(st.sampled_from("abcdefghij"), max_size=4)), min_size=2, max_size=4
)


def is_change(update: IndexUpdate) -> bool:
    return bool(update.added or update.replaced or update.removed)


@pytest.fixture
def path() -> str:
    return model_with_words().path


def texts_of(documents: dict[str, str]) -> list[Text]:
    return [Text(name, f"title {name}", text, 1) for name, text in documents.items()]


def content(index: CorpusIndex) -> dict[str, str]:
    return {document.id: document.text for document in index.documents()}


def drift_at_once(model: LoadedModel, folder: Path, documents: dict[str, str]) -> Drift | None:
    """The drift of an index made from these documents at once."""
    (folder / SEGMENTS).mkdir()
    records = list(encode_documents(model, texts_of(documents), str(folder / SEGMENTS), 0))
    return assemble_index(str(folder), "", records, 1, statistics=model.statistics()).drift


def assert_same(first: Drift | None, second: Drift | None) -> None:
    assert first and second
    assert first.model_dump(exclude={"divergence"}) == second.model_dump(exclude={"divergence"})
    assert first.divergence == pytest.approx(second.divergence, abs=1e-9)


@settings(max_examples=8, deadline=None, phases=[Phase.generate])
@given(steps=STEPS, min_vectors=st.sampled_from([4, 1 << 17]), gain=st.sampled_from([0.0, 4.0]))
def test_an_index_holds_what_its_updates_left(
    tmp_path_factory: pytest.TempPathFactory, steps: list, min_vectors: int, gain: float
) -> None:
    model = model_with_words(feedback=Feedback(gain))
    versions = IndexVersions(tmp_path_factory.mktemp("index"))
    encoded: list[int] = []
    updater = IndexUpdater(model.path, versions, encoded.append, min_vectors=min_vectors, max_documents=4)
    updater.replace_all([])
    expected: dict[str, str] = {}
    for is_whole, documents, removed in steps:
        encoded.clear()
        before = dict(expected)
        if is_whole:
            update, expected = updater.replace_all(texts_of(documents)), dict(documents)
        else:
            update = updater.change(texts_of(documents), removed)
            expected = {**{name: text for name, text in before.items() if name not in removed}, **documents}
        index = CorpusIndex(update.version)
        assert content(index) == expected
        assert len(index) == update.documents == len(expected)
        changed = [name for name, text in documents.items() if before.get(name) != text]
        assert max(encoded, default=0) == len(changed) == update.added + update.replaced
        assert update.unchanged == len(documents) - len(changed)
        assert update.removed == len(before.keys() - expected.keys())
        assert is_change(update) == (before != expected)
        assert all(segment.documents <= 4 for segment in index.manifest.segments)
    # As if it were made at once, and as the model scores.
    assert_same(update.drift, drift_at_once(model, tmp_path_factory.mktemp("at_once"), expected))
    if expected:
        hits = index.search(model.encode_query("white cat"), 99, model.feedback)
        ranked = DocumentRanker(model, texts_of(expected)).rank("white cat", 99)
        assert [hit.score for hit in hits] == pytest.approx([document.score for document in ranked], abs=1e-4)


def test_an_index_without_own_terms_is_made_again_for_a_second_pass_and_not_changed(tmp_path: Path) -> None:
    model = model_with_words(feedback=Feedback(4.0))
    updater = IndexUpdater(model.path, IndexVersions(tmp_path))
    # As if an earlier version had made it.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(model), "feedback", Feedback())
        first = updater.replace_all(texts_of({"a": "chat", "b": "lune"}))
    assert not CorpusIndex(first.version).has_own_terms
    with pytest.raises(DataError, match=r"own terms.*clir index"):
        updater.change(texts_of({"c": "chat"}), [])
    update = updater.replace_all(texts_of({"a": "chat", "b": "lune"}))
    assert (update.added, CorpusIndex(update.version).has_own_terms) == (2, True)


@settings(max_examples=6, deadline=None, phases=[Phase.generate])
@given(steps=STEPS)
def test_an_index_of_passages_holds_all_passages_of_its_documents(
    tmp_path_factory: pytest.TempPathFactory, steps: list
) -> None:
    passages = PassageSettings(words=2, overlap=1)
    model = model_with_words(passages=passages)
    updater = IndexUpdater(model.path, IndexVersions(tmp_path_factory.mktemp("index")), max_documents=4)
    updater.replace_all([])
    expected: dict[str, str] = {}
    for is_whole, documents, removed in steps:
        before = dict(expected)
        kept = {} if is_whole else {name: text for name, text in before.items() if name not in removed}
        expected = {**kept, **documents}
        whole = texts_of(documents)
        update = updater.replace_all(whole) if is_whole else updater.change(whole, removed)
        index = CorpusIndex(update.version)
        assert content(index) == {
            part.id: part.text for document in texts_of(expected) for part in passages_of(document, passages, False)
        }
        assert index.count_documents() == len(expected)
        changed = [name for name, text in documents.items() if before.get(name) != text]
        assert update.added + update.replaced == len(changed)
        assert update.removed == len(before.keys() - expected.keys())
    if expected:
        answer = Engine(model, index, "1").search("white cat", 99, with_snippets=False, with_texts=True)
        ranked = DocumentRanker(model, texts_of(expected)).rank("white cat", 99)
        assert [hit.score for hit in answer.results] == pytest.approx([document.score for document in ranked], abs=1e-4)
        text_of = {part.id: part.text for part in index.documents()}
        assert all(text_of[passage_id(hit.doc_id, hit.passage or 0)] == hit.text for hit in answer.results)


def test_nothing_new_makes_no_version_and_a_new_title_replaces_its_document(path: str, tmp_path: Path) -> None:
    updater = IndexUpdater(path, IndexVersions(tmp_path))
    first = updater.replace_all(texts_of({"a": "chat", "b": "lune"}))
    assert (first.added, is_change(first)) == (2, True)
    second = updater.replace_all(texts_of({"b": "lune", "a": "chat"}))
    assert (second.unchanged, is_change(second), second.version) == (2, False, first.version)
    assert not is_change(updater.change([], ["never there"]))
    update = updater.replace_all([Text("a", "new", "chat", 1)])
    assert (update.replaced, update.removed) == (1, 1)
    assert [document.title for document in CorpusIndex(update.version).documents()] == ["new"]


def test_a_version_does_not_change_when_the_next_is_made(path: str, tmp_path: Path) -> None:
    updater = IndexUpdater(path, IndexVersions(tmp_path), max_documents=4)
    first = updater.replace_all(texts_of({name: "chat" for name in "abcdef"}))
    folder = Path(first.version)
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    opened = CorpusIndex(first.version)
    updater.change(texts_of({"a": "lune", "z": "un"}), ["b"])
    assert before == {file: file.read_bytes() for file in before}
    updater.change(texts_of({"y": "un"}), [])
    assert not folder.exists()
    assert set(content(opened)) == set("abcdef")  # who has it open can go on


VALUES = st.dictionaries(st.sampled_from("abcdefghij"), st.sampled_from(["", "es", "2020", "7.5"]), max_size=8)


@settings(max_examples=8, deadline=None, phases=[Phase.generate])
@given(steps=st.lists(st.tuples(st.booleans(), VALUES, st.sets(st.sampled_from("abcdefghij"))), min_size=2, max_size=4))
def test_an_update_keeps_the_fields_of_the_other_documents(
    tmp_path_factory: pytest.TempPathFactory, steps: list
) -> None:
    updater = IndexUpdater(model_with_words().path, IndexVersions(tmp_path_factory.mktemp("index")), max_documents=4)
    expected = {"z": "es"}
    update = updater.replace_all([Text("z", "", "chat", 1, ("es",))], ["value"])
    for is_whole, values, removed in steps:
        documents = [Text(name, "", "chat", 1, (value,)) for name, value in values.items()]
        if is_whole and any(values.values()):
            update, expected = updater.replace_all(documents, updater.fields), dict(values)
        else:
            update = updater.change(documents, removed)
            expected = {**{name: value for name, value in expected.items() if name not in removed}, **values}
        index = CorpusIndex(update.version)
        assert {document.id: document.fields for document in index.documents()} == {
            name: (value,) for name, value in expected.items()
        }
        present = [value for value in expected.values() if value]
        kind = "number" if present and "es" not in present else "text"
        assert index.fields == update.fields == {"value": FieldRecord(type=kind, documents=len(present))}
        for condition, names in (
            ("value=7.50" if kind == "number" else "value=7.5", {name for name in expected if expected[name] == "7.5"}),
            ("value!=2020", {name for name in expected if expected[name] != "2020"}),
        ):
            hits = index.search(model_with_words().encode_query("cat"), 99, where=Where.parse(condition, index.fields))
            assert {hit.doc_id.decode() for hit in hits} == names


def test_other_fields_encode_every_document_again_and_a_field_without_a_value_changes_nothing(
    path: str, tmp_path: Path
) -> None:
    updater = IndexUpdater(path, IndexVersions(tmp_path))
    assert updater.replace_all(texts_of({"a": "chat"})).fields == {}
    documents = [Text("a", "title a", "chat", 1, ("es", ""))]
    update = updater.replace_all([document._replace(fields=("es",)) for document in documents], ["lang"])
    assert (update.added, updater.fields) == (1, ("lang",))
    with pytest.raises(DataError, match="value of year"):
        updater.replace_all(documents, ["lang", "year"])
    assert updater.fields == ("lang",)
    assert updater.replace_all([document._replace(fields=("fr",)) for document in documents], ["lang"]).replaced == 1
    with pytest.raises(ValueError):
        updater.change(texts_of({"b": "chat"}), [])
    assert updater.fields == ("lang",)


def test_a_run_that_replaces_an_index_keeps_the_fields_of_what_leaves_in_a_file_that_can_be_added(
    path: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run_update = IndexUpdater(path, IndexVersions(tmp_path / "made")).replace_all(texts_of({"a": "chat"}))
    versions = IndexVersions(tmp_path / "index")
    push_index(run_update.version, str(versions.folder))
    updated = IndexUpdater(path, versions).replace_all([Text("b", "", "lune", 1, ("es",))], ["lang"])
    assert (
        push_index(run_update.version, str(versions.folder)) == updated.version
    )  # fields do not make it another run's
    run_update = IndexUpdater(path, IndexVersions(tmp_path / "made")).replace_all(texts_of({"a": "chien"}))
    version = Path(push_index(run_update.version, str(versions.folder)))
    assert (version / "left.tsv").read_text() == "id\ttitle\ttext\tlang\nb\t\tlune\tes\n"
    assert "the fields lang are gone" in caplog.text


def test_an_index_of_another_model_or_none_cannot_be_changed(path: str, tmp_path: Path) -> None:
    versions = IndexVersions(tmp_path / "index")
    with pytest.raises(DataError, match="Make one with `clir index`"):
        IndexUpdater(path, versions).change([], ["a"])
    IndexUpdater(path, versions).replace_all(texts_of({"a": "chat"}))
    second_updater = IndexUpdater(model_with_words("bm25").path, versions)
    with pytest.raises(DataError, match="was made by another model"):
        second_updater.change(texts_of({"b": "lune"}), [])
    assert second_updater.replace_all(texts_of({"a": "chat"})).added == 1


def test_a_run_pushes_its_index_once_and_leaves_what_was_changed_since(path: str, tmp_path: Path) -> None:
    run_update = IndexUpdater(path, IndexVersions(tmp_path / "made")).replace_all(texts_of({"a": "chat", "b": "lune"}))
    folder = str(tmp_path / "index")
    pushed = push_index(run_update.version, folder)
    assert push_index(run_update.version, folder) == pushed
    updated = IndexUpdater(path, IndexVersions(folder)).change(texts_of({"c": "un"}), [])
    assert push_index(run_update.version, folder) == updated.version
    next_update = IndexUpdater(path, IndexVersions(tmp_path / "made")).change(texts_of({"d": "un"}), [])
    assert set(content(CorpusIndex(push_index(next_update.version, folder)))) == set("abd")
