"""Collections joined into one: their lists are those of runs on each, and faults are found before anything is read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from components.wikiclir_example_gen.sampling import sample_negatives
from components.wikiclir_example_gen.settings import DataSettings
from pipeline.config import load_config
from pipeline.conversion.convert import CONVERSION
from pipeline.conversion.join import join, join_faults
from pipeline.output_folder import made_fault
from schemas.errors import DataError
from schemas.splits import SPLITS, split_of
from tests.pipeline.test_conversion import Written, read

QUERIES = range(12)
DOCUMENTS = range(9)


def collection(folder: Path, words: str, judgments: Mapping[int, Mapping[int, int]], **settings: Any) -> DataSettings:
    """The settings of a collection in a folder, whose texts hold some words of their own."""
    folder.mkdir(exist_ok=True)
    files = {
        "queries": "".join(f"{one}\tT{one}\t{words} query {one}\n" for one in QUERIES),
        "documents": "".join(f"{one}\tD{one}\t{words} document {one}\n" for one in DOCUMENTS),
        "judgments": "".join(
            f"{query}\t{doc}\t{grade}\n" for query, docs in judgments.items() for doc, grade in docs.items()
        ),
    }
    for role, text in files.items():
        (folder / role).write_text(text)
    paths: Any = {role: str(folder / role) for role in files}
    return DataSettings(**{"query_language": "en", "document_language": "fr", "negatives": 3, **paths, **settings})


def written(folder: Path) -> Written:
    return read(folder)


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, DataSettings]:
    folder = tmp_path_factory.mktemp("parts")
    one_for_all = {query: {query % 5: 2, 5 + query % 2: 1, 7: 0} for query in QUERIES}
    fixed = folder / "candidates"
    fixed.write_text(
        "".join(f"{query}\t{doc}\t{2 * (doc == 1)}\t{SPLITS[query % 3]}\n" for query in (1, 2, 3) for doc in (4, 1, 6))
    )
    return {
        "news": collection(folder / "news", "news", one_for_all, seed=7),
        "health": collection(folder / "health", "health", {query: {1: 2} for query in QUERIES}, candidates=str(fixed)),
    }  # fmt: skip


@pytest.fixture(scope="module")
def pool(parts: dict[str, DataSettings], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pool")
    join(parts, folder, lambda *_: None)
    return folder


@pytest.mark.stages
def test_ids_are_those_of_the_collections_after_their_names(pool: Path) -> None:
    files = written(pool)
    assert [*files.documents] == [f"{name}/{one}" for name in ("news", "health") for one in DOCUMENTS]
    assert files.documents["health/3"][1:3] == ("D3", "health document 3")
    assert [*files.queries] == [*(f"news/{one}" for one in QUERIES), *(f"health/{one}" for one in (1, 2, 3))]


@pytest.mark.stages
def test_a_note_says_what_the_collections_limit_would_cut(tmp_path: Path) -> None:
    one = {0: {1: 2}}
    parts = {
        name: collection(tmp_path / name, words, one, max_document_tokens=3)
        for name, words in (("news", "news"), ("health", "health and sport"))
    }
    of_queries, of_documents = join(parts, tmp_path / "out", lambda *_: None).notes
    assert of_queries.startswith(
        "warning: 50.0% of the queries are longer than data.max_document_tokens (3 words): 25.0%"
    )
    assert of_documents.startswith(
        "warning: 50.0% of the documents are longer than data.max_document_tokens (3 words): "
    )


@pytest.mark.stages
def test_every_query_has_the_domain_of_its_collection(pool: Path) -> None:
    domains = dict(line.split("\t") for line in (pool / "domains.tsv").read_text().splitlines())
    assert domains == {query_id: query_id.split("/")[0] for query_id in written(pool).queries}


@pytest.mark.stages
def test_lists_and_splits_are_those_that_a_run_on_each_collection_draws(pool: Path) -> None:
    files = written(pool)
    doc_ids = [str(one) for one in DOCUMENTS]
    for query in QUERIES:
        judged = {str(query % 5): 2, str(5 + query % 2): 1, "7": 0}
        drawn = sample_negatives(str(query), 7, 3, doc_ids, judged.keys())
        found = {doc_id.removeprefix("news/"): grade for doc_id, grade in files.lists()[f"news/{query}"].items()}
        assert found == {**judged, **dict.fromkeys(drawn, 0)}
        assert [doc_id for doc_id in found if doc_id not in judged] == drawn  # in the order of the draw
        assert files.splits()[f"news/{query}"] == split_of(str(query))


@pytest.mark.stages
def test_given_lists_and_splits_stay_as_they_are(pool: Path) -> None:
    files = written(pool)
    for query in (1, 2, 3):
        assert files.lists()[f"health/{query}"] == {"health/4": 0, "health/1": 2, "health/6": 0}
        assert files.splits()[f"health/{query}"] == SPLITS[query % 3]


@pytest.mark.stages
def test_the_account_of_each_collection_balances(pool: Path) -> None:
    account = json.loads((pool / "conversion.json").read_text())["account"]
    for files in account["inputs"].values():
        for file in files.values():
            assert file["read"] == file["used"] + sum(one["count"] for one in file["drops"])
    assert account["inputs"]["health"]["queries"]["used"] == 3
    assert account["pairs"] == len(written(pool).candidates)


@pytest.mark.stages
def test_a_run_takes_the_joined_collection(pool: Path) -> None:
    data = load_config(str(pool / "config.yaml"), ["data.held_out=[health]"]).data
    assert (data.domains, data.held_out) == (str(pool / "domains.tsv"), ("health",))
    assert made_fault(str(pool), CONVERSION) is None


@pytest.mark.stages
def test_an_earlier_output_is_replaced_as_a_whole(parts: dict[str, DataSettings], tmp_path: Path) -> None:
    begun: list[tuple[int, int, str]] = []
    join(parts, tmp_path, lambda *one: begun.append(one))
    before = (tmp_path / "candidates.tsv").read_text()
    join(dict(reversed(parts.items())), tmp_path, lambda *_: None)
    assert sorted((tmp_path / "candidates.tsv").read_text().splitlines()) == sorted(before.splitlines())
    assert begun == [(1, 2, "news"), (2, 2, "health")]


@pytest.mark.stages
def test_a_collection_without_a_list_leaves_nothing(parts: dict[str, DataSettings], tmp_path: Path) -> None:
    empty = collection(tmp_path / "empty", "empty", {query: {1: 1} for query in QUERIES}, max_bad_share=1)
    with pytest.raises(DataError, match="empty must have a judged query with a document of the top grade"):
        join({**parts, "empty": empty}, tmp_path / "out", lambda *_: None)
    assert not [*(tmp_path / "out").iterdir()]


@pytest.mark.parametrize("name", ["a/b", "a b", "a\tb", "a\x00", "", " a"])
def test_a_name_that_cannot_stand_before_an_id_is_refused(parts: dict[str, DataSettings], name: str) -> None:
    (fault,) = join_faults([("news", parts["news"]), (name, parts["health"])])
    assert (
        fault
        == f"a name must hold no `/`, control character or white space, for it stands before the ids; got {name!r}."
    )


@pytest.mark.parametrize("names", [("news", "news"), ("news", "News")])
def test_names_must_differ(parts: dict[str, DataSettings], names: tuple[str, str]) -> None:
    (fault,) = join_faults([*zip(names, parts.values(), strict=True)])
    assert fault == f"names must differ by more than the case of letters; got {names[0]!r} and {names[1]!r}."


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        (
            {"document_language": "de"},
            "data.document_language must be the same in all collections; got fr (a), de (b).",
        ),
        ({"query_language": "de"}, "data.query_language must be the same in all collections; got en (a), de (b)."),
        ({"top_grade": 3}, "data.top_grade must be the same in all collections; got 2 (a), 3 (b)."),
        ({"leave_out_own": True}, "data.leave_out_own must be the same in all collections; got False (a), True (b)."),
        ({"domains": "topics.tsv"}, "b: data.domains must be null, for the joined collection's domains are the names."),
        ({"queries": "gs://bucket/queries"}, "b: its files must be local; got gs://bucket/queries."),
        ({"query_words": 5}, "b: data.query_words must be null; set it for the joined collection."),
    ],
)
def test_collections_that_do_not_fit_together_are_refused(
    parts: dict[str, DataSettings], changed: dict[str, Any], fault: str
) -> None:
    assert join_faults([("a", parts["news"]), ("b", parts["health"].model_copy(update=changed))]) == [fault]


def test_the_same_file_under_two_names_is_refused_even_as_a_copy(
    parts: dict[str, DataSettings], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    copy.write_bytes(Path(parts["news"].queries or "").read_bytes())
    (fault,) = join_faults([("a", parts["news"]), ("b", parts["health"].model_copy(update={"queries": str(copy)}))])
    assert fault.startswith(f"collections must differ; a and b have the same queries: {copy}, whose content is that of")
    assert join_faults([*parts.items()]) == []
