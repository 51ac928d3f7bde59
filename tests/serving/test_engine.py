"""An engine over a small model and index, asked as people ask it."""

import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from models.exported.model import LoadedModel
from models.lists.feedback import Feedback
from schemas.errors import DataError
from schemas.served_versions import EXAMPLES_FILE, read_example_queries
from smooth_clir.retrieval.answers import NotFound
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.document_ranker import DocumentRanker
from smooth_clir.retrieval.engine import Engine, Languages
from smooth_clir.retrieval.folder_engines import FolderEngines
from smooth_clir.retrieval.index_versions import IndexVersions
from smooth_clir.retrieval.update_index import IndexUpdater
from smooth_clir.serving.tf_serving_client import TfServingModel
from tests.models.loaded_once import model_of_vectors, model_with_words
from tests.serving.live_service import LiveService, live_service
from tests.serving.searchable import DOCUMENTS, EXAMPLES, FOREIGN, SHARES, THETA, export_searchable, index_documents
from tests.stand_in_tf_serving.grpc_server import start_grpc
from tests.stand_in_tf_serving.predictor import Predictor

pytestmark = pytest.mark.stages

TEXTS = {document.id: document.text for document in DOCUMENTS}


def newest(source: FolderEngines) -> Engine:
    version = source.newest()
    assert version
    return source.load(version)


@pytest.fixture(scope="module")
def engine(searchable: Path, searched: str) -> Engine:
    return newest(FolderEngines(str(searchable / "serving"), searched, None, Languages("en", "fr")))


def test_a_filter_restricts_search_and_explanation_alike_and_the_service_takes_it(
    tmp_path: Path, each_model_loaded_once: None
) -> None:
    export_searchable(tmp_path / "serving" / "1", feedback=Feedback(4.0, 2))
    documents = [document._replace(fields=(document.id[1:],)) for document in DOCUMENTS]
    IndexUpdater(str(tmp_path / "serving" / "1"), IndexVersions(tmp_path / "index")).replace_all(documents, ["number"])
    source = FolderEngines(str(tmp_path / "serving"), str(tmp_path / "index"))
    engine = newest(source)
    where = "number>=3"
    answer = engine.search("white cat", 5, with_snippets=False, with_texts=False, where=where)
    assert {hit.doc_id for hit in answer.results} == {"d3", "d4", "d5"}
    for hit in answer.results:
        assert engine.explain("white cat", hit.place, None, where).score == pytest.approx(hit.score, abs=1e-5)
    assert any(hit.feedback for hit in answer.results)
    with live_service(source) as live:
        hits = live.client.get("/v1/search", params={"q": "white cat", "where": where}).json()["results"]
        assert [hit["score"] for hit in hits] == [hit.score for hit in answer.results]
        posted = live.client.post("/v1/search", json={"query": "white cat", "where": where}).json()["results"]
        assert posted == hits
        place = {"q": "white cat", "place": hits[0]["place"], "where": where}
        assert live.client.get("/v1/explain", params=place).json()["score"] == pytest.approx(hits[0]["score"], abs=1e-5)
        fields = live.client.get("/v1/collection").json()["fields"]
        assert fields == {"number": {"type": "number", "documents": 5}}
        wrong = live.client.get("/v1/search", params={"q": "cat", "where": "number=x,lang=es"})
        assert (wrong.status_code, "'x'" in wrong.json()["error"], "'lang'" in wrong.json()["error"]) == (
            422,
            True,
            True,
        )


def test_results_have_scores_parts_shares_and_snippets(engine: Engine) -> None:
    answer = engine.search("white cat", 3, with_snippets=True, with_texts=True, snippet_characters=12)
    assert (answer.model_version, answer.index_version, answer.documents) == ("1", "1", len(DOCUMENTS))
    assert [hit.rank for hit in answer.results] == [1, 2, 3]
    for hit in answer.results:
        assert hit.score == pytest.approx(hit.dense + hit.words, abs=1e-6)
        assert hit.relevant_share == pytest.approx(min(1, max(0, hit.score)))
        assert hit.text == TEXTS[hit.doc_id]
        assert hit.snippet is not None
        shown = "".join(piece.text for piece in hit.snippet.pieces)
        assert shown in TEXTS[hit.doc_id] and len(shown) <= 12
        assert {"chat", "blanc"} & {piece.text for piece in hit.snippet.pieces if piece.is_match}
    (hit,) = engine.search("white cat", 1, with_snippets=False, with_texts=False).results
    assert (hit.snippet, hit.text) == (None, None)
    assert engine.search("zzzz qqqq", 5, with_snippets=True, with_texts=False).results == ()


def test_the_collection_has_its_drift_and_example_queries_that_are_not_too_long(
    engine: Engine, searchable: Path
) -> None:
    collection = engine.collection(most_query_characters=100, most_k=10)
    drift = collection.drift
    assert drift == CorpusIndex(str(searchable / "index" / "1")).manifest.drift
    assert drift and (drift.documents, drift.model_documents, drift.reason) == (len(DOCUMENTS), len(DOCUMENTS), "")
    assert collection.example_queries == EXAMPLES
    assert engine.collection(most_query_characters=60, most_k=10).example_queries == EXAMPLES[:2]
    model = LoadedModel(str(searchable / "serving" / "1"))
    assert model.relevance and model.relevance._replace(error_rate=SHARES.error_rate) == SHARES  # a float32
    assert model.theta == pytest.approx(THETA)


@pytest.mark.parametrize("content", ["[", '{"a": 1}', '["a", 1]', '[" "]', r'["\ud83d"]', "[" * 100_000])
def test_example_queries_that_are_no_list_of_texts_are_an_error_that_names_their_file(
    tmp_path: Path, content: str
) -> None:
    assert read_example_queries(str(tmp_path)) == ()  # as of an earlier release
    path = tmp_path / EXAMPLES_FILE
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(DataError, match=str(path)):
        read_example_queries(str(tmp_path))


def test_the_shares_of_an_explanation_add_up_to_the_score_of_the_search(engine: Engine) -> None:
    for hit in engine.search("white cat", 5, with_snippets=False, with_texts=False).results:
        answer = engine.explain("white cat", hit.place, None)
        assert (answer.doc_id, answer.text) == (hit.doc_id, TEXTS[hit.doc_id])
        assert answer.relevant_share == pytest.approx(hit.relevant_share, abs=1e-5)
        assert answer.score == pytest.approx(hit.score, abs=1e-5)
        words = answer.explanation.words
        assert sum(word.dense or 0 for word in words) == pytest.approx(hit.dense, abs=1e-5)
        assert sum(word.lexicon or 0 for word in words) == pytest.approx(hit.words, abs=1e-5)
        assert sum(entry.part for entry in answer.explanation.lexicon) == pytest.approx(hit.words, abs=1e-5)


def test_texts_are_ranked_by_score_and_equal_ones_as_they_came_and_explained(engine: Engine) -> None:
    ranked = engine.rank("white cat", ["lune", "chat blanc", "lune"]).documents
    assert [(text.rank, text.position) for text in ranked] == [(1, 1), (2, 0), (3, 2)]
    assert [text.relevant_share for text in ranked] == pytest.approx([min(1, max(0, text.score)) for text in ranked])
    answer = engine.explain("white cat", None, "chat blanc")
    assert (answer.doc_id, answer.title, answer.text) == (None, None, "chat blanc")
    assert answer.score == pytest.approx(ranked[0].score, abs=1e-5)


@pytest.fixture(scope="module")
def second_pass(tmp_path_factory: pytest.TempPathFactory) -> tuple[LoadedModel, CorpusIndex]:
    """A model with a second pass, and its index."""
    folder = tmp_path_factory.mktemp("second")
    export_searchable(folder / "serving" / "1", feedback=Feedback(4.0, 3))
    index_documents(folder / "serving" / "1", folder / "index" / "1")
    return LoadedModel(str(folder / "serving" / "1")), CorpusIndex(str(folder / "index" / "1"))


def test_a_search_has_the_models_second_pass_as_a_part_of_its_own(second_pass: tuple[LoadedModel, CorpusIndex]) -> None:
    engine = Engine(*second_pass, "1")
    engine.warm()
    answer = engine.search("white cat", 5, with_snippets=False, with_texts=False)
    assert answer.no_good_answer is False
    assert any(hit.feedback > 0 for hit in answer.results)
    for hit in answer.results:
        assert hit.score == pytest.approx(hit.dense + hit.words + hit.feedback, abs=1e-5)
        assert hit.relevant_share == pytest.approx(min(1, max(0, hit.score - hit.feedback)))
        explained = engine.explain("white cat", hit.place, None)
        assert (explained.explanation.parts[-1].name, explained.score) == (
            "feedback",
            pytest.approx(hit.score, abs=1e-5),
        )
        assert explained.explanation.parts[-1].part == pytest.approx(hit.feedback, abs=1e-5)
    texts = [TEXTS[hit.doc_id] for hit in answer.results]
    ranked = engine.rank("white cat", texts).documents  # the whole collection: the same candidates
    assert [text.score for text in ranked] == pytest.approx([hit.score for hit in answer.results], abs=1e-4)
    explained_text = engine.explain("white cat", None, texts[0])  # a text without others has the first pass alone
    assert {part.name for part in explained_text.explanation.parts} == {"smooth_cosine", "lexicon"}
    assert explained_text.relevant_share is not None


def test_another_gain_or_none_is_taken_and_an_index_without_own_terms_says_that_it_has_none(
    second_pass: tuple[LoadedModel, CorpusIndex], engine: Engine, searchable: Path
) -> None:
    model, index = second_pass
    without_own = CorpusIndex(str(searchable / "index" / "1"))
    first = engine.search("white cat", 5, with_snippets=False, with_texts=False).results
    for engine, is_missing in ((Engine(model, index, "1", gain=0.0), False), (Engine(model, without_own, "1"), True)):
        answer = engine.search("white cat", 5, with_snippets=False, with_texts=False)
        assert [(hit.doc_id, hit.score) for hit in answer.results] == [(hit.doc_id, hit.score) for hit in first]
        assert {hit.feedback for hit in answer.results} == {0}
        collection = engine.collection(most_query_characters=100, most_k=10)
        assert collection.feedback == 0
        assert ("clir index" in (collection.why_first_pass or "")) == is_missing
    assert Engine(model, index, "1", gain=8.0).search("white cat", 1, False, False).results[0].feedback > 0


def test_documents_unlike_the_model_s_have_no_shares_and_the_service_says_why(
    engine: Engine, searchable: Path, tmp_path: Path
) -> None:
    path = searchable / "serving" / "1"
    index_documents(path, tmp_path / "1", FOREIGN)
    foreign = Engine(LoadedModel(str(path)), CorpusIndex(str(tmp_path / "1")), "1")
    hits = foreign.search("cat", 5, with_snippets=False, with_texts=False).results
    assert len(hits) == len(FOREIGN) and {hit.relevant_share for hit in hits} == {None}
    assert foreign.explain("cat", hits[0].place, None).relevant_share is None
    reason = foreign.collection(most_query_characters=100, most_k=10).why_no_shares or ""
    assert "of the terms are unknown" in reason
    assert engine.collection(most_query_characters=100, most_k=10).why_no_shares is None
    # The same texts and the model's own, wherever they come from.
    for service in (engine, foreign):
        ranked_texts = service.rank("cat", [document.text for document in FOREIGN]).documents
        assert {text.relevant_share for text in ranked_texts} == {None}
        assert service.explain("cat", None, FOREIGN[0].text).relevant_share is None
        mixed = service.rank("cat", ["un chat blanc", FOREIGN[0].text]).documents  # each text by itself
        assert {text.position: text.relevant_share is None for text in mixed} == {0: False, 1: True}
        assert service.explain("cat", None, "un chat blanc").relevant_share is not None
    ranked = DocumentRanker(LoadedModel(str(path)), FOREIGN)
    assert {document.relevant_share for document in ranked.rank("cat", 5)} == {None}
    assert "of the terms are unknown" in (ranked.why_no_shares or "")
    ranker = DocumentRanker(LoadedModel(str(path)), DOCUMENTS)
    assert ranker.why_no_shares is None and None not in {document.relevant_share for document in ranker.rank("cat", 5)}


def test_a_query_has_no_good_answer_if_its_best_score_is_low_or_its_words_are_unknown(engine: Engine) -> None:
    def why_no_good_answer(query: str) -> str | None:
        answer = engine.search(query, 3, with_snippets=False, with_texts=False)
        assert answer.no_good_answer == (answer.why_no_good_answer is not None)
        ranked = engine.rank(query, [*TEXTS.values()])
        if answer.results:
            assert ranked.why_no_good_answer == answer.why_no_good_answer
        return answer.why_no_good_answer

    assert why_no_good_answer("white cat") is None
    reason = why_no_good_answer("white cat zzzz") or ""
    assert all(part in reason for part in ("66.7 %", "75.0 %", "5 %"))
    assert why_no_good_answer("zzzz qqqq")
    answer = engine.rank("white cat", ["lune"])
    assert answer.documents[0].score < 0.125
    assert "0.1250" in (answer.why_no_good_answer or "")


@pytest.mark.parametrize("place", ["0:9@1", "7:0@1", "0:0", "x", "0:0@2", "0:-1@1", "99999999999:0@1"])
def test_a_place_without_a_document_is_refused(engine: Engine, place: str) -> None:
    identity = engine.search("white cat", 1, with_snippets=False, with_texts=False).results[0].place.partition("@")[2]
    with pytest.raises(NotFound, match="place"):
        engine.explain("cat", place.replace("@1", f"@{identity}"), None)


def test_a_model_without_words_that_match_marks_what_its_vectors_find(searchable: Path, tmp_path: Path) -> None:
    model = model_of_vectors()
    index_documents(Path(model.path), tmp_path / "1")
    engine = Engine(LoadedModel(model.path), CorpusIndex(str(tmp_path / "1")), "1")
    answer = engine.search("white cat", 1, with_snippets=True, with_texts=False)
    (hit,) = answer.results
    assert (hit.words, hit.relevant_share, answer.no_good_answer) == (0, None, None)
    assert any(piece.is_match for piece in hit.snippet.pieces) == (hit.score > 0)  # type: ignore[union-attr]


def test_an_index_of_a_model_that_is_not_there_is_refused(searchable: Path, tmp_path: Path) -> None:
    shutil.copytree(model_with_words().path, tmp_path / "serving" / "3")
    with pytest.raises(DataError, match="versions: 3"):
        newest(FolderEngines(str(tmp_path / "serving"), str(searchable / "index")))


# A service


@pytest.fixture(scope="module")
def live(searchable: Path, searched: str) -> Iterator[LiveService]:
    with live_service(FolderEngines(str(searchable / "serving"), searched)) as service:
        yield service


@pytest.fixture
def source(searchable: Path, tmp_path: Path) -> FolderEngines:
    """Engines of a copy, which a test may change."""
    for part in ("serving", "index"):
        shutil.copytree(searchable / part, tmp_path / part)
    return FolderEngines(str(tmp_path / "serving"), str(tmp_path / "index"))


def test_a_model_with_a_changed_byte_is_refused_and_not_taken_for_another(
    source: FolderEngines, tmp_path: Path
) -> None:
    vocabulary = next((tmp_path / "serving").glob("*/assets/query_vocabulary"))
    vocabulary.write_bytes(vocabulary.read_bytes().replace(b"a", b"b", 1))
    with pytest.raises(DataError, match="assets/query_vocabulary"):
        newest(source)


@pytest.mark.parametrize("query", ["\0", "a\0b", "🐈" * 400, "قط أبيض", "a" * 1000, "’\u200d\ufeff", "\x1b[31m"])
def test_strange_queries_are_answered(live: LiveService, query: str) -> None:
    assert live.client.get("/v1/search", params={"q": query, "snippets": True}).status_code == 200
    assert live.client.post("/v1/rank", json={"query": query, "documents": [query]}).status_code == 200
    assert live.client.post("/v1/explain", json={"query": query, "text": query}).status_code == 200


def test_a_newer_index_and_model_take_the_place_of_the_older_ones_without_a_failed_request(
    source: FolderEngines, tmp_path: Path
) -> None:
    # Takes above 5 s: a second model is loaded, and its graphs run for the first time while clients ask.
    export_searchable(tmp_path / "serving" / "2", weight=1.0)
    (tmp_path / "made").mkdir()
    index_documents(tmp_path / "serving" / "2", tmp_path / "made" / "2")
    with live_service(source, poll_seconds=0.1) as live, ThreadPoolExecutor(2) as clients:
        is_over = Event()

        def ask() -> list[tuple[int, str, str]]:
            answers = []
            while not is_over.wait(0.05):  # so that the newer engine gets its share of the processor
                answer = live.client.get("/v1/search?q=white+cat&snippets=true")
                answers.append((answer.status_code, answer.json()["model_version"], answer.json()["index_version"]))
            return answers

        asking = [clients.submit(ask) for _ in range(2)]
        (tmp_path / "made" / "2").rename(tmp_path / "index" / "2")
        while live.client.get("/v1/collection").json()["index_version"] != "2":
            assert not is_over.wait(0.1)
        is_over.set()
        answers = {answer for future in asking for answer in future.result()}
        assert answers <= {(200, "1", "1"), (200, "2", "2")}
        answer = live.client.get("/v1/explain", params={"q": "cat", "place": "0:0@1"})
        assert (answer.status_code, "Search again." in answer.json()["error"]) == (404, True)


def test_an_index_that_was_made_again_under_the_same_number_takes_the_place_of_the_one_before(
    source: FolderEngines, tmp_path: Path
) -> None:
    (tmp_path / "made").mkdir()
    index_documents(tmp_path / "serving" / "1", tmp_path / "made" / "1", DOCUMENTS[:2])
    version = source.newest()
    with live_service(source, poll_seconds=0.1) as live:
        before = live.client.get("/v1/search?q=white+cat&k=20").json()
        shutil.rmtree(tmp_path / "index" / "1")
        (tmp_path / "made" / "1").rename(tmp_path / "index" / "1")
        deadline = time.monotonic() + 20
        while live.client.get("/v1/collection").json()["documents"] != 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        after = live.client.get("/v1/search?q=white+cat&k=20").json()
        assert {hit["doc_id"] for hit in after["results"]} <= {document.id for document in DOCUMENTS[:2]}
        for hit in before["results"]:
            answer = live.client.get("/v1/explain", params={"q": "cat", "place": hit["place"]})
            assert (answer.status_code, "Search again." in answer.json()["error"]) == (404, True)
    assert version and version != source.newest()
    with pytest.raises(DataError, match="changed while"):  # and it is not taken for the one before
        source.load(version)


def test_a_model_in_a_tf_serving_gives_the_same_answers(searchable: Path, searched: str, engine: Engine) -> None:
    server, port = start_grpc(Predictor([str(searchable / "serving" / "1")]))
    remote = newest(
        FolderEngines(
            str(searchable / "serving"),
            searched,
            lambda version: TfServingModel(f"127.0.0.1:{port}", "clir", version),
        )
    )
    try:
        expected, answer = (
            service.search("white cat", 3, with_snippets=True, with_texts=False) for service in (engine, remote)
        )
        assert [hit.snippet for hit in answer.results] == [hit.snippet for hit in expected.results]
        assert [hit.score for hit in answer.results] == pytest.approx([hit.score for hit in expected.results], abs=1e-6)
        place = expected.results[0].place
        assert remote.explain("white cat", place, None).score == pytest.approx(expected.results[0].score, abs=1e-5)
        server.stop(None).wait()
        with pytest.raises(DataError, match="no TF Serving answers"):
            remote.search("white cat", 3, with_snippets=True, with_texts=False)
    finally:
        remote.close()
        server.stop(None).wait()
