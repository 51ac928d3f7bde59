"""Collections joined into one: their lists are those of runs on each, and faults are found before anything is read."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from components.wikiclir_example_gen.sampling import sample_negatives
from components.wikiclir_example_gen.settings import DataSettings
from pipeline.config_file import load_config
from pipeline.conversion.convert import CONVERSION
from pipeline.conversion.join import join, join_faults
from pipeline.made_folder import made_fault
from schemas.errors import DataError
from schemas.splits import SPLITS, split_of
from tests.pipeline.test_conversion import read

QUERIES = range(12)
DOCUMENTS = range(9)


def collection(folder: Path, words: str, judgments: Mapping[int, Mapping[int, int]], **settings: Any) -> DataSettings:
    """The settings of a collection in a folder, whose texts hold some words of their own."""
    folder.mkdir(exist_ok=True)
    files = {
        "queries": "".join(f"{query}\tT{query}\t{words} query {query}\n" for query in QUERIES),
        "documents": "".join(f"{doc}\tD{doc}\t{words} document {doc}\n" for doc in DOCUMENTS),
        "judgments": "".join(
            f"{query}\t{doc}\t{grade}\n" for query, docs in judgments.items() for doc, grade in docs.items()
        ),
    }
    for role, text in files.items():
        (folder / role).write_text(text)
    paths: Any = {role: str(folder / role) for role in files}
    return DataSettings(**{"query_language": "en", "document_language": "fr", "negatives": 3, **paths, **settings})


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, DataSettings]:
    folder = tmp_path_factory.mktemp("parts")
    one_for_all = {query: {query % 5: 2, 5 + query % 2: 1, 7: 0} for query in QUERIES}
    fixed = folder / "candidates"
    fixed.write_text(
        "".join(f"{query}\t{doc}\t{2 * (doc == 1)}\t{SPLITS[query % 3]}\n" for query in (1, 2, 3) for doc in (4, 1, 6))
    )
    return {
        "news": collection(folder / "news", "news", one_for_all, seed=7, max_document_tokens=3),
        "health": collection(
            folder / "health", "health and sport", {query: {1: 2} for query in QUERIES},
            candidates=str(fixed), max_document_tokens=3,
        ),
    }  # fmt: skip


class Joined(NamedTuple):
    """The collections joined into a folder."""

    folder: Path
    notes: Sequence[str]
    begun: list[tuple[int, int, str]]
    """The collections as they were begun: number, total and name."""


@pytest.fixture(scope="module")
def joined(parts: dict[str, DataSettings], tmp_path_factory: pytest.TempPathFactory) -> Joined:
    folder, begun = tmp_path_factory.mktemp("pool"), []
    return Joined(folder, join(parts, folder, lambda *start: begun.append(start)).notes, begun)


@pytest.fixture(scope="module")
def pool(joined: Joined) -> Path:
    return joined.folder


@pytest.mark.stages
def test_ids_and_domains_are_those_of_the_collections(pool: Path) -> None:
    files = read(pool)
    assert [*files.documents] == [f"{name}/{doc_id}" for name in ("news", "health") for doc_id in DOCUMENTS]
    assert files.documents["health/3"][1:3] == ("D3", "health and sport document 3")
    assert [*files.queries] == [*(f"news/{query}" for query in QUERIES), *(f"health/{query}" for query in (1, 2, 3))]
    domains = dict(line.split("\t") for line in (pool / "domains.tsv").read_text().splitlines())
    assert domains == {query_id: query_id.split("/")[0] for query_id in files.queries}


@pytest.mark.stages
def test_lists_and_splits_are_those_that_a_run_on_each_collection_draws_and_fixed_ones_stay(pool: Path) -> None:
    files = read(pool)
    doc_ids = [str(doc_id) for doc_id in DOCUMENTS]
    for query in QUERIES:
        judged = {str(query % 5): 2, str(5 + query % 2): 1, "7": 0}
        drawn = sample_negatives(str(query), 7, 3, doc_ids, judged.keys())
        grades = {doc_id.removeprefix("news/"): grade for doc_id, grade in files.lists()[f"news/{query}"].items()}
        assert grades == {**judged, **dict.fromkeys(drawn, 0)}
        assert [doc_id for doc_id in grades if doc_id not in judged] == drawn  # in the order of the draw
        assert files.splits()[f"news/{query}"] == split_of(str(query))
    for query in (1, 2, 3):
        assert files.lists()[f"health/{query}"] == {"health/4": 0, "health/1": 2, "health/6": 0}
        assert files.splits()[f"health/{query}"] == SPLITS[query % 3]


@pytest.mark.stages
def test_the_account_of_each_collection_balances(pool: Path) -> None:
    account = json.loads((pool / "conversion.json").read_text())["account"]
    for files in account["inputs"].values():
        for file in files.values():
            assert file["read"] == file["used"] + sum(drop["count"] for drop in file["drops"])
    assert account["inputs"]["health"]["queries"]["used"] == 3
    assert account["pairs"] == len(read(pool).candidates)


@pytest.mark.stages
def test_a_run_takes_the_joined_collection(pool: Path) -> None:
    data = load_config(str(pool / "config.yaml"), ["data.held_out=[health]"]).data
    assert (data.domains, data.held_out) == (str(pool / "domains.tsv"), ("health",))
    assert made_fault(str(pool), CONVERSION) is None


@pytest.mark.stages
def test_each_collection_is_announced_and_a_note_says_what_the_limit_would_cut(joined: Joined) -> None:
    assert joined.begun == [(1, 2, "news"), (2, 2, "health")]
    assert [note for note in joined.notes if "50.0% of the documents" in note and "3 words" in note]


@pytest.mark.stages
def test_an_earlier_output_is_replaced_as_a_whole(parts: dict[str, DataSettings], pool: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(pool, tmp_path / "pool")
    join(dict(reversed(parts.items())), folder, lambda *_: None)
    before, after = ((path / "candidates.tsv").read_text().splitlines() for path in (pool, folder))
    assert before != after
    assert sorted(before) == sorted(after)


@pytest.mark.stages
def test_a_collection_without_a_list_leaves_nothing(parts: dict[str, DataSettings], tmp_path: Path) -> None:
    empty = collection(tmp_path / "empty", "empty", {query: {1: 1} for query in QUERIES}, max_bad_share=1)
    with pytest.raises(DataError, match="^empty "):
        join({"empty": empty, **parts}, tmp_path / "out", lambda *_: None)
    assert not [*(tmp_path / "out").iterdir()]


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        *((("news", name), repr(name)) for name in ("a/b", "a b", "a\tb", "a\x00", "", " a")),
        (("news", "news"), "'news' and 'news'"),
        (("news", "News"), "'news' and 'News'"),
    ],
)
def test_a_name_must_fit_before_an_id_and_differ_from_others(
    parts: dict[str, DataSettings], names: tuple[str, str], shown: str
) -> None:
    (fault,) = join_faults([*zip(names, parts.values(), strict=True)])
    assert fault.endswith(f"got {shown}.")


@pytest.mark.parametrize(
    ("changed", "key", "shown"),
    [
        ({"document_language": "de"}, "data.document_language", "fr (a), de (b)"),
        ({"query_language": "de"}, "data.query_language", "en (a), de (b)"),
        ({"top_grade": 3}, "data.top_grade", "2 (a), 3 (b)"),
        ({"leave_out_own": True}, "data.leave_out_own", "False (a), True (b)"),
        ({"domains": "topics.tsv"}, "b: data.domains", ""),
        ({"queries": "gs://bucket/queries"}, "b: ", "gs://bucket/queries"),
        ({"query_words": 5}, "b: data.query_words", ""),
    ],
)
def test_collections_that_do_not_fit_together_are_refused(
    parts: dict[str, DataSettings], changed: dict[str, Any], key: str, shown: str
) -> None:
    (fault,) = join_faults([("a", parts["news"]), ("b", parts["health"].model_copy(update=changed))])
    assert fault.startswith(key)
    assert shown in fault


def test_the_same_file_under_two_names_is_refused_even_as_a_copy(
    parts: dict[str, DataSettings], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    copy.write_bytes(Path(parts["news"].queries or "").read_bytes())
    (fault,) = join_faults([("a", parts["news"]), ("b", parts["health"].model_copy(update={"queries": str(copy)}))])
    assert "a and b" in fault
    assert str(copy) in fault
    assert join_faults([*parts.items()]) == []


def test_texts_in_several_languages_keep_their_own(tmp_path: Path) -> None:
    judgments = {query: {query % 5: 2} for query in QUERIES}
    parts = {}
    for name in ("news", "health"):
        data = collection(tmp_path / name, name, judgments, query_language="en+it", document_language="de+fr")
        for path, codes in ((data.queries, ("en", "it")), (data.documents, ("de", "fr"))):
            assert path
            lines = Path(path).read_text().splitlines()
            rows = [f"{line}\t{codes[number % 2]}\n" for number, line in enumerate(lines)]
            Path(path).write_text("".join(["id\ttitle\ttext\tlang\n", *rows]))
        parts[name] = data
    join(parts, tmp_path / "joined", lambda *start: None)
    data = load_config(str(tmp_path / "joined" / "config.yaml")).data
    assert data.languages == ("en+it", "de+fr")
    header, first, second, *_ = (tmp_path / "joined" / "documents.tsv").read_text().splitlines()
    assert header == "id\ttitle\ttext\tlang"
    assert [line.split("\t")[0::3] for line in (first, second)] == [["news/0", "de"], ["news/1", "fr"]]
    assert (tmp_path / "joined" / "queries.tsv").read_text().startswith("id\ttitle\ttext\tlang\nnews/0\tT0\t")
