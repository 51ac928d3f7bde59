"""An engine over a small model and index, asked as people ask it."""

import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from models.exported.model import LoadedModel
from models.retrieval.corpus_index import CorpusIndex
from schemas.errors import DataError
from schemas.served_versions import EXAMPLES_FILE
from serving.engine import Engine, Languages
from serving.example_queries import read_example_queries
from serving.newest_engine import FolderEngines
from serving.refusals import NotThere
from serving.tf_serving_client import TfServingModel
from tests.models.small_lexicon import COLLECTION
from tests.models.small_model import export_small_model
from tests.serving.live_service import LiveService, live_service
from tests.serving.searchable import DOCUMENTS, EXAMPLES, export_searchable, index_documents
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
    source = FolderEngines(str(searchable / "serving"), searched, None, Languages("en", "fr"))
    return newest(source)


def test_results_have_scores_parts_shares_and_snippets(engine: Engine) -> None:
    answer = engine.search("white cat", 3, with_snippets=True, with_texts=True)
    assert (answer.model_version, answer.index_version, answer.documents) == ("1", "1", len(DOCUMENTS))
    assert [hit.rank for hit in answer.results] == [1, 2, 3]
    for hit in answer.results:
        assert hit.score == pytest.approx(hit.dense + hit.words, abs=1e-6)
        assert hit.relevant_share == pytest.approx(min(1, max(0, hit.score)))
        assert hit.text == TEXTS[hit.doc_id]
        assert hit.snippet is not None
        assert "".join(piece.text for piece in hit.snippet.pieces) in TEXTS[hit.doc_id]
    best = answer.results[0]
    assert {"chat", "blanc"} & {piece.text for piece in best.snippet.pieces if piece.is_match}  # type: ignore[union-attr]


def test_the_collection_tells_how_far_it_is_from_the_model_s_documents(engine: Engine, searchable: Path) -> None:
    drift = engine.collection(most_query_characters=100, most_k=10).drift
    assert drift == CorpusIndex(str(searchable / "index" / "1")).manifest.drift
    assert drift and (drift.documents, drift.model_documents, drift.reason) == (len(DOCUMENTS), len(COLLECTION), "")


def test_the_collection_offers_the_queries_beside_the_model_that_are_not_too_long(engine: Engine) -> None:
    assert engine.collection(most_query_characters=100, most_k=10).example_queries == EXAMPLES
    assert engine.collection(most_query_characters=60, most_k=10).example_queries == EXAMPLES[:2]


@pytest.mark.parametrize("content", ["[", '{"a": 1}', '["a", 1]', '[" "]', r'["\ud83d"]', "[" * 100_000])
def test_example_queries_that_are_no_list_of_texts_are_an_error_that_names_their_file(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / EXAMPLES_FILE
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(DataError, match=f"{path} must be a JSON list of queries, .* mend the file, or remove it"):
        read_example_queries(str(tmp_path))


def test_a_model_of_before_has_no_example_queries(tmp_path: Path) -> None:
    assert read_example_queries(str(tmp_path)) == ()


def test_snippets_are_no_longer_than_asked_and_hold_the_words_that_match(engine: Engine) -> None:
    for hit in engine.search("white cat", 3, with_snippets=True, with_texts=False, snippet_characters=12).results:
        assert hit.snippet is not None
        assert len("".join(piece.text for piece in hit.snippet.pieces)) <= 12
        assert any(piece.is_match for piece in hit.snippet.pieces)


def test_snippets_and_texts_are_left_out_where_nobody_asks_for_them(engine: Engine) -> None:
    (hit,) = engine.search("white cat", 1, with_snippets=False, with_texts=False).results
    assert (hit.snippet, hit.text) == (None, None)


def test_the_shares_of_an_explanation_add_up_to_the_score_that_was_found(engine: Engine) -> None:
    for hit in engine.search("white cat", 5, with_snippets=False, with_texts=False).results:
        answer = engine.explain("white cat", hit.place, None)
        assert (answer.doc_id, answer.text) == (hit.doc_id, TEXTS[hit.doc_id])
        assert answer.relevant_share == pytest.approx(hit.relevant_share, abs=1e-5)
        assert answer.score == pytest.approx(hit.score, abs=1e-5)
        words = answer.explanation.words
        assert sum(word.dense or 0 for word in words) == pytest.approx(hit.dense, abs=1e-5)
        assert sum(word.lexicon or 0 for word in words) == pytest.approx(hit.words, abs=1e-5)
        assert sum(entry.part for entry in answer.explanation.lexicon) == pytest.approx(hit.words, abs=1e-5)


def test_a_text_of_one_s_own_is_explained_too(engine: Engine) -> None:
    answer = engine.explain("dog", None, "un chien")
    assert (answer.doc_id, answer.title, answer.text) == (None, None, "un chien")
    assert answer.score == pytest.approx(engine.rank("dog", ["un chien"]).documents[0].score, abs=1e-5)


def test_texts_are_ranked_by_score_and_equal_ones_as_they_came(engine: Engine) -> None:
    ranked = engine.rank("white cat", ["lune", "chat blanc", "lune"]).documents
    assert [one.position for one in ranked] == [1, 0, 2]
    assert [one.rank for one in ranked] == [1, 2, 3]
    assert [one.relevant_share for one in ranked] == pytest.approx([min(1, max(0, one.score)) for one in ranked])


def test_a_query_has_no_good_answer_if_its_best_score_is_low_or_its_words_are_unknown(engine: Engine) -> None:
    def why(query: str) -> str | None:
        answer = engine.search(query, 3, with_snippets=False, with_texts=False)
        assert answer.no_good_answer == (answer.why_no_good_answer is not None)
        ranked = engine.rank(query, [*TEXTS.values()])
        if answer.results:
            assert ranked.why_no_good_answer == answer.why_no_good_answer
        return answer.why_no_good_answer

    assert why("white cat") is None
    assert why("white cat zzzz") == (
        "the model knows 66.7 % of the query's words, less than 75.0 % (so are at most 5 % of queries that have an "
        "answer)"
    )
    assert why("zzzz qqqq") == "no document answers a word of the query that the model knows"
    (low,) = engine.rank("white cat", ["lune"]).documents
    assert low.score < 0.125
    assert "is below 0.1250" in (engine.rank("white cat", ["lune"]).why_no_good_answer or "")


@pytest.mark.parametrize("place", ["0:9@1", "7:0@1", "0:0", "x", "0:0@2", "0:-1@1", "99999999999:0@1"])
def test_a_place_that_is_none_is_reported(engine: Engine, place: str) -> None:
    identity = engine.search("white cat", 1, with_snippets=False, with_texts=False).results[0].place.partition("@")[2]
    with pytest.raises(NotThere, match="place must be"):
        engine.explain("cat", place.replace("@1", f"@{identity}"), None)


def test_an_unknown_query_finds_nothing(engine: Engine) -> None:
    assert engine.search("zzzz qqqq", 5, with_snippets=True, with_texts=False).results == ()


def test_a_model_without_words_that_match_marks_what_its_vectors_find(tmp_path: Path) -> None:
    export_small_model(tmp_path / "1", initial_scale=1.0)
    (tmp_path / "index").mkdir()
    index_documents(tmp_path / "1", tmp_path / "index" / "1")
    engine = Engine(LoadedModel(str(tmp_path / "1")), CorpusIndex(str(tmp_path / "index" / "1")), "1")
    hit = engine.search("white cat", 1, with_snippets=True, with_texts=False).results[0]
    assert (hit.words, hit.relevant_share) == (0, None)
    assert engine.search("white cat", 1, with_snippets=True, with_texts=False).no_good_answer is None
    assert any(piece.is_match for piece in hit.snippet.pieces) == (hit.score > 0)  # type: ignore[union-attr]


def test_an_index_of_a_model_that_is_not_there_is_reported(searchable: Path, tmp_path: Path) -> None:
    export_searchable(tmp_path / "serving" / "3", weight=0.25)
    with pytest.raises(DataError, match="must be the index of a model in .*; it is of none of these: 3"):
        newest(FolderEngines(str(tmp_path / "serving"), str(searchable / "index")))


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


def test_a_model_with_a_changed_byte_is_named_and_not_taken_for_another(source: FolderEngines, tmp_path: Path) -> None:
    vocabulary = next((tmp_path / "serving").glob("*/assets/query_vocabulary"))
    vocabulary.write_bytes(vocabulary.read_bytes().replace(b"a", b"b", 1))
    with pytest.raises(DataError, match="must hold a whole SavedModel: .* SHA256SUMS says: assets/query_vocabulary"):
        newest(source)


@pytest.mark.parametrize("query", ["\0", "a\0b", "🐈" * 400, "قط أبيض", "a" * 1000, "’\u200d\ufeff", "\x1b[31m"])
def test_strange_queries_are_answered(live: LiveService, query: str) -> None:
    assert live.client.get("/v1/search", params={"q": query, "snippets": True}).status_code == 200
    assert live.client.post("/v1/rank", json={"query": query, "documents": [query]}).status_code == 200
    assert live.client.post("/v1/explain", json={"query": query, "text": query}).status_code == 200


def test_a_newer_index_and_model_take_the_place_of_the_older_ones_without_a_failed_request(
    source: FolderEngines, tmp_path: Path
) -> None:
    export_searchable(tmp_path / "serving" / "2", weight=1.0)
    with live_service(source, poll_seconds=0.1) as live, ThreadPoolExecutor(4) as clients:
        is_over = Event()

        def ask() -> list[tuple[int, str, str]]:
            found = []
            while not is_over.wait(0.01):  # so that the index gets its share of the processor
                answer = live.client.get("/v1/search?q=white+cat&snippets=true")
                found.append((answer.status_code, answer.json()["model_version"], answer.json()["index_version"]))
            return found

        asking = [clients.submit(ask) for _ in range(4)]
        index_documents(tmp_path / "serving" / "2", tmp_path / "index" / "2")
        while live.client.get("/v1/collection").json()["index_version"] != "2":
            assert not is_over.wait(0.1)
        is_over.set()
        answers = [answer for one in asking for answer in one.result()]
        assert {status for status, _, _ in answers} == {200}
        assert {(model, index) for _, model, index in answers} <= {("1", "1"), ("2", "2")}
        place = live.client.get("/v1/explain", params={"q": "cat", "place": "0:0@1"})
        assert place.status_code == 404
        assert "Search again." in place.json()["error"]


def test_an_index_that_was_made_again_under_the_same_number_takes_the_place_of_the_one_before(
    source: FolderEngines, tmp_path: Path
) -> None:
    with live_service(source, poll_seconds=0.1) as live:
        before = live.client.get("/v1/search?q=white+cat&k=20").json()
        (tmp_path / "made").mkdir()
        index_documents(tmp_path / "serving" / "1", tmp_path / "made" / "1", DOCUMENTS[:2])
        shutil.rmtree(tmp_path / "index" / "1")
        (tmp_path / "made" / "1").rename(tmp_path / "index" / "1")
        deadline = time.monotonic() + 20
        while live.client.get("/v1/collection").json()["documents"] != 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        after = live.client.get("/v1/search?q=white+cat&k=20").json()
        kept = {document.id for document in DOCUMENTS[:2]}
        assert {hit["doc_id"] for hit in after["results"]} <= kept
        for hit in before["results"]:
            answer = live.client.get("/v1/explain", params={"q": "cat", "place": hit["place"]})
            assert (answer.status_code, "Search again." in answer.json()["error"]) == (404, True)


def test_an_index_that_changes_while_it_is_loaded_is_not_taken_for_the_one_before(
    source: FolderEngines, tmp_path: Path
) -> None:
    version = source.newest()
    shutil.rmtree(tmp_path / "index" / "1")
    index_documents(tmp_path / "serving" / "1", tmp_path / "index" / "1", DOCUMENTS[:2])
    assert version and version != source.newest()
    with pytest.raises(DataError, match="must not change while it is loaded"):
        source.load(version)
    assert newest(source).documents == 2


def test_a_model_in_a_tf_serving_gives_the_same_answers(searchable: Path, searched: str, engine: Engine) -> None:
    server, port = start_grpc(Predictor([str(searchable / "serving" / "1")]))
    source = FolderEngines(
        str(searchable / "serving"),
        searched,
        lambda version: TfServingModel(f"127.0.0.1:{port}", "clir", version),
    )
    asked = newest(source)
    try:
        here, there = (one.search("white cat", 3, with_snippets=True, with_texts=False) for one in (engine, asked))
        assert [hit.snippet for hit in there.results] == [hit.snippet for hit in here.results]
        assert [hit.score for hit in there.results] == pytest.approx([hit.score for hit in here.results], abs=1e-6)
        place = here.results[0].place
        assert asked.explain("white cat", place, None).score == pytest.approx(here.results[0].score, abs=1e-5)
        server.stop(None).wait()
        with pytest.raises(DataError, match="no TF Serving answers"):
            asked.search("white cat", 3, with_snippets=True, with_texts=False)
    finally:
        asked.close()
        server.stop(None).wait()
