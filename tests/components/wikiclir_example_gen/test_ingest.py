"""The ingestion job on a small collection with a record of every fault."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import tensorflow as tf

from components.collection_gen import write_collection
from components.wikiclir_example_gen.query_words import draw_query_words
from components.wikiclir_example_gen.sampling import is_cold, list_place, sample_negatives
from schemas import features as f
from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, SOMEWHAT_RELEVANT
from schemas.splits import SPLITS, split_of
from tests.components.collected import collect

pytestmark = pytest.mark.stages

NEGATIVES = 4
SEED = 3

FAULTY_TEXTS = [
    b"77\tonly a title",
    b"77\tnot UTF-8\t\xff",
    b"77\tNUL\t\x00",
    b"7 7\twhite space in the id\ttext",
    b"77\tempty text\t ",
]
FAULTY_JUDGMENTS = [
    b"1\td1",
    b"1\td1\t\xff",
    b"1\td1\t\x00",
    b"\td1\t1",
    b"1\td9\t-1",
    b"1\td1\t0",  # given before, as MR
    b"99\td1\t2",
    b"1\td99\t2",
    b"46\td1\t1",
]
TEXT_DROPS = {"field_count": 1, "bad_utf8": 1, "nul_byte": 1, "bad_id": 1, "empty_text": 1, "duplicate_id": 1}
DROPS = {
    "queries": {**TEXT_DROPS, "no_judgment": 1, "no_most_relevant": 1},
    "documents": {**TEXT_DROPS, "not_in_a_list": 0},
    "judgments": {
        **{"field_count": 1, "bad_utf8": 1, "nul_byte": 1, "bad_id": 1, "bad_grade": 1},
        **{"duplicate_pair": 1, "unknown_query": 1, "unknown_document": 1, "query_dropped": 1},
    },
}
CANDIDATES = [
    # The splits are not those that a hash of the id gives.
    *["1\td1\t2\teval", "1\td2\t1\teval", "1\td3\t1\teval", "1\td30\t0\teval"],
    *["2\td50\t0\ttest", "2\td2\t2\ttest", "2\td3\t0\ttest", "2\td40\t1\ttest"],  # d3 is judged 1, d40 is not judged
    *["3\td3\t2\ttrain", "3\td4\t1\ttrain"],
    *["4\td4\t2\ttrain", "4\td5\t1\ttest"],
    *["5\td6\t1\ttrain"],
    *["1\td1\t2\teval", "99\td1\t2\ttrain", "1\td99\t0\teval", "1\td4\t0\tdev"],
]
CANDIDATE_LISTS = {
    "1": ("eval", {"d1": 2, "d2": 1, "d3": 1, "d30": 0}),
    "2": ("test", {"d50": 0, "d2": 2, "d3": 0, "d40": 1}),
    "3": ("train", {"d3": 2, "d4": 1}),
}


class ReadList(NamedTuple):
    """One written example, read back."""

    split: str
    example: bytes
    query: tuple[str, str, str]
    documents: list[tuple[str, str, str]]
    grades: dict[str, int]
    negative_places: dict[str, int]


class Ingestion(NamedTuple):
    """The output of one run of the job."""

    lists: dict[str, ReadList]
    report: dict[str, Any]

    def drops(self, role: str) -> dict[str, int]:
        return {drop["reason"]: drop["count"] for drop in self.report["files"][role]["drops"]}


def lines(records: Sequence[str | bytes]) -> bytes:
    return b"".join((record.encode() if isinstance(record, str) else record) + b"\n" for record in records)


def read_list(split: str, record: bytes) -> ReadList:
    feature = tf.train.Example.FromString(record).features.feature
    columns = {
        name: [value.decode() for value in feature[name].bytes_list.value]
        for name in (f.QUERY_ID, f.QUERY_TITLE, f.QUERY_TEXT, f.DOC_ID, f.DOC_TITLE, f.DOC_TEXT)
    }
    ((query_id, title, text),) = zip(columns[f.QUERY_ID], columns[f.QUERY_TITLE], columns[f.QUERY_TEXT], strict=True)
    documents = list(zip(columns[f.DOC_ID], columns[f.DOC_TITLE], columns[f.DOC_TEXT], strict=True))
    grades = dict(zip(columns[f.DOC_ID], feature[f.RELEVANCE].int64_list.value, strict=True))
    places = dict(zip(columns[f.DOC_ID], feature[f.NEGATIVE_PLACE].int64_list.value, strict=True))
    return ReadList(split, record, (query_id, title, text), documents, grades, places)


def run_ingest(
    folder: Path,
    contents: Mapping[str, bytes | Sequence[bytes]],
    max_queries: int | None = None,
    negatives: int = NEGATIVES,
    **settings: Any,
) -> Ingestion:
    import apache_beam as beam

    from components.wikiclir_example_gen.ingest import ingest
    from components.wikiclir_example_gen.lists import IngestSettings

    collected = folder / "collection"
    roles = collect(collected, contents)
    ingest_settings = IngestSettings(negatives, SEED, max_queries, MOST_RELEVANT, **settings)
    splits = {split: str(folder / split / "data") for split in SPLITS}
    with beam.Pipeline(argv=[]) as pipeline:
        ingest(pipeline, ingest_settings, str(collected), roles, splits, str(folder / "report"))
    lists = [
        read_list(split, record)
        for split in SPLITS
        for record in tf.data.TFRecordDataset(
            [str(path) for path in (folder / split).iterdir()], "GZIP"
        ).as_numpy_iterator()
    ]
    by_query = {one.query[0]: one for one in lists}
    assert len(by_query) == len(lists), "a query stands in two examples"
    return Ingestion(by_query, json.loads((folder / "report").read_text()))


@pytest.fixture(scope="module")
def faulty(collection) -> dict[str, bytes]:
    """The collection's files, with broken records between the good ones."""
    queries, documents, judgments = (collection[role] for role in ("queries", "documents", "judgments"))
    others = ["45\tTitle\tA query that nothing judges", "46\tTitle\tA query without an MR document"]
    return {
        "queries": lines([*queries[:20], *FAULTY_TEXTS, queries[0], *others, *queries[20:]]),
        "documents": lines([*documents[:20], *FAULTY_TEXTS, documents[0], *documents[20:]]),
        "judgments": lines([*judgments[:20], *FAULTY_JUDGMENTS, *judgments[20:]]),
    }


@pytest.fixture(scope="module")
def full(tmp_path_factory, faulty) -> Ingestion:
    return run_ingest(tmp_path_factory.mktemp("full"), faulty)


@pytest.fixture(scope="module")
def limited(tmp_path_factory, faulty) -> Ingestion:
    unjudged = b"47\tTitle\tAnother query that nothing judges\n"
    return run_ingest(tmp_path_factory.mktemp("limited"), {**faulty, "queries": unjudged + faulty["queries"]}, 3)


@pytest.fixture(scope="module")
def fixed(tmp_path_factory, faulty) -> Ingestion:
    return run_ingest(tmp_path_factory.mktemp("fixed"), {**faulty, "candidates": lines(CANDIDATES)})


@pytest.fixture(scope="module")
def by_documents(tmp_path_factory, faulty) -> Ingestion:
    return run_ingest(tmp_path_factory.mktemp("by_documents"), faulty, split="documents")


@pytest.fixture(scope="module")
def cold(tmp_path_factory, faulty) -> Ingestion:
    return run_ingest(tmp_path_factory.mktemp("cold"), faulty, cold_share=0.3)


@pytest.fixture(scope="module")
def long_tests(tmp_path_factory, faulty) -> Ingestion:
    return run_ingest(tmp_path_factory.mktemp("long_tests"), faulty, test_negatives=2 * NEGATIVES)


@pytest.fixture(scope="module")
def keywords(tmp_path_factory, faulty) -> Ingestion:
    return run_ingest(tmp_path_factory.mktemp("keywords"), faulty, query_words=2)


DOMAINS = [
    *[f"{query}\tnews" for query in range(1, 21)],
    *[f"{query}\thealth" for query in range(21, 38)],  # queries 38, 39 and 40 have none
    *["1\tnews", "2\thealth", "3\ta/b", "4", "99\tnews", "46\tnews"],  # 46 is a query that is left out
]


@pytest.fixture(scope="module")
def domains(tmp_path_factory, faulty) -> Ingestion:
    return run_ingest(tmp_path_factory.mktemp("domains"), {**faulty, "domains": lines(DOMAINS)}, cold_share=0.3)


@pytest.fixture(params=["full", "limited", "fixed", "by_documents", "cold", "long_tests", "keywords", "domains"])
def ingestion(request) -> Ingestion:
    """Each of the runs in turn."""
    return request.getfixturevalue(request.param)


def test_every_fault_is_counted_by_its_reason(full):
    for role, drops in DROPS.items():
        assert full.drops(role) == {reason: count for reason, count in drops.items() if count}, role


def test_every_file_balances(ingestion):
    for role, file in ingestion.report["files"].items():
        assert file["read"] == file["used"] + sum(ingestion.drops(role).values()), role


def test_the_used_records_are_those_in_an_example(ingestion, collection):
    lists = ingestion.lists
    pairs = {(query_id, doc_id) for query_id, one in lists.items() for doc_id in one.grades}
    standing = {
        "queries": len(lists),
        "documents": len({doc_id for _, doc_id in pairs}),
        "judgments": len(pairs & {tuple(line.split("\t")[:2]) for line in collection["judgments"]}),
        "candidates": len(pairs),
        "domains": len(lists),
    }
    assert {role: file["used"] for role, file in ingestion.report["files"].items()} == {
        role: standing[role] for role in ingestion.report["files"]
    }


def test_report_counts_the_written_lists_and_pairs(ingestion):
    lists = ingestion.lists.values()
    assert ingestion.report["lists"] == {split: sum(one.split == split for one in lists) for split in SPLITS}
    assert ingestion.report["pairs"] == {
        split: sum(len(one.grades) for one in lists if one.split == split) for split in SPLITS
    }


def test_every_list_has_its_judged_documents_and_sampled_ones(full):
    assert sorted(full.lists, key=int) == [str(q) for q in range(1, 41)]
    for query_id, one in full.lists.items():
        judged = [f"d{int(query_id) + place}" for place in range(3)]
        assert [one.grades[doc_id] for doc_id in judged] == [MOST_RELEVANT, SOMEWHAT_RELEVANT, SOMEWHAT_RELEVANT]
        negatives = sample_negatives(query_id, SEED, NEGATIVES, [f"d{d}" for d in range(60)], judged)
        assert {doc_id for doc_id, grade in one.grades.items() if grade == NOT_RELEVANT} == {*negatives}
        assert len(one.grades) == len(one.documents) == 3 + NEGATIVES


def test_every_nr_document_has_its_place_in_the_draw(full):
    for query_id, one in full.lists.items():
        judged = [f"d{int(query_id) + place}" for place in range(3)]
        negatives = sample_negatives(query_id, SEED, NEGATIVES, [f"d{d}" for d in range(60)], judged)
        places = {doc_id: place for place, doc_id in enumerate(negatives)}
        assert one.negative_places == dict.fromkeys(judged, -1) | places


def test_lists_of_a_smaller_draw_have_the_first_nr_documents(tmp_path, faulty, full):
    few = run_ingest(tmp_path, faulty, negatives=2)
    assert few.lists.keys() == full.lists.keys()
    for query_id, one in full.lists.items():
        assert few.lists[query_id].documents == [
            document for document in one.documents if one.negative_places[document[0]] < 2
        ]


def test_test_lists_alone_have_more_nr_documents_where_that_is_asked(long_tests, full):
    assert long_tests.lists.keys() == full.lists.keys()
    for query_id, one in full.lists.items():
        other = long_tests.lists[query_id]
        if one.split == "test":
            assert len(other.grades) == len(one.grades) + NEGATIVES
            assert one.documents == [
                document for document in other.documents if other.negative_places[document[0]] < NEGATIVES
            ]
        else:
            assert other == one


@pytest.mark.parametrize("test_negatives", [2, 2 * NEGATIVES])
def test_test_lists_of_divided_documents_have_their_number_of_nr_documents(
    tmp_path, faulty, by_documents, test_negatives
):
    found = run_ingest(tmp_path, faulty, split="documents", test_negatives=test_negatives)
    assert found.lists.keys() == by_documents.lists.keys()
    for query_id, one in by_documents.lists.items():
        other = found.lists[query_id]
        if one.split == "test":
            assert sorted(place for place in other.negative_places.values() if place >= 0) == [*range(test_negatives)]
        else:
            assert other == one


def test_keyword_queries_are_drawn_in_every_split_and_nothing_else_changes(keywords, full):
    texts = {query_id: one.query[2] for query_id, one in full.lists.items()}
    drawn = draw_query_words(texts, 2, SEED)
    assert {one.split for one in keywords.lists.values()} == {*SPLITS}
    assert keywords.lists.keys() == full.lists.keys()
    for query_id, one in keywords.lists.items():
        whole = full.lists[query_id]
        assert one.query == (*whole.query[:2], drawn[query_id])
        assert len(one.query[2].split()) == 2
        assert one._replace(query=whole.query, example=whole.example) == whole
    assert (keywords.report["query_words"], full.report["query_words"]) == (2, None)
    assert all(keywords.report[key] == full.report[key] for key in ("lists", "pairs", "grade_disagreements"))


def test_queries_are_split_by_a_hash_of_their_id(full):
    assert {one.split for one in full.lists.values()} == {*SPLITS}
    assert all(one.split == split_of(query_id) for query_id, one in full.lists.items())


# The documents 1 to 42 of the collection form one group, which is too large: each is its own unit.


def test_documents_are_split_by_a_hash_of_their_unit(by_documents, full):
    assert by_documents.lists.keys() == full.lists.keys()
    for query_id, one in by_documents.lists.items():
        assert one.split == split_of(f"d{query_id}")
        judged = {doc_id for doc_id, grade in one.grades.items() if grade > NOT_RELEVANT}
        related = {f"d{int(query_id) + place}" for place in range(3)}
        assert judged == {doc_id for doc_id in related if split_of(doc_id) == one.split}
        left = {doc_id: grade for doc_id, grade in full.lists[query_id].grades.items() if doc_id not in related}
        assert {doc_id: grade for doc_id, grade in one.grades.items() if doc_id not in judged} == left
    dropped = sum(len(one.grades) for one in full.lists.values()) - sum(
        len(one.grades) for one in by_documents.lists.values()
    )
    assert by_documents.drops("judgments") == {**full.drops("judgments"), "other_split": dropped}
    assert dropped > 0


def test_cold_queries_are_left_to_the_test_split_alone(cold, full):
    for query_id, one in full.lists.items():
        is_test, is_left_out = one.split == "test", is_cold(f"d{query_id}", SEED, 0.3)
        assert (query_id in cold.lists) == (is_test or not is_left_out)
        if is_test:
            assert cold.lists[query_id] == one
    relevant = {
        doc_id for one in cold.lists.values() if one.split != "test" for doc_id, grade in one.grades.items() if grade
    }
    assert relevant and not any(is_cold(doc_id, SEED, 0.3) for doc_id in relevant)
    assert cold.drops("queries")["cold"] == len(full.lists) - len(cold.lists) > 0
    assert cold.drops("judgments")["cold"] > 3 * cold.drops("queries")["cold"]


def test_examples_carry_titles_and_texts(full):
    for query_id, one in full.lists.items():
        assert one.query == (query_id, f"Title {query_id}", f"The text of query {query_id}")
        for doc_id, title, text in one.documents:
            assert (title, text) == (f"Titre {doc_id[1:]}", f"Le texte du document {doc_id[1:]}")


def test_the_order_of_a_list_says_nothing_about_the_grades(ingestion):
    for query_id, one in ingestion.lists.items():
        doc_ids = [doc_id for doc_id, _, _ in one.documents]
        assert doc_ids == sorted(doc_ids, key=lambda doc_id, query_id=query_id: list_place(query_id, doc_id))


def places(file: Mapping[str, Any]) -> list[tuple[str, int, list[tuple[int, str]]]]:
    """A report's drops of a file, without the path."""
    return [
        (drop["reason"], drop["count"], [(example["line"], example["text"]) for example in drop["examples"]])
        for drop in file["drops"]
    ]


def halves(content: bytes) -> list[bytes]:
    """A file's lines in two files, the first of which holds 22 lines: a few of the broken ones."""
    every = content.splitlines(keepends=True)
    return [b"".join(every[:22]), b"".join(every[22:])]


def test_several_files_of_a_role_are_one_file_whose_places_are_their_own(tmp_path, faulty, full):
    parted = run_ingest(tmp_path, {role: halves(content) for role, content in faulty.items()})
    assert parted.lists == full.lists
    for role, file in parted.report["files"].items():
        whole = full.report["files"][role]
        assert (file["read"], file["used"]) == (whole["read"], whole["used"])
        for drop, drop_of_whole in zip(file["drops"], whole["drops"], strict=True):
            assert drop == {**drop_of_whole, "examples": drop["examples"]}
            for example, of_whole in zip(drop["examples"], drop_of_whole["examples"], strict=True):
                line = of_whole["line"]
                assert (example["file"], example["line"]) == (
                    (str(tmp_path / f"{role}-0"), line) if line <= 22 else (str(tmp_path / f"{role}-1"), line - 22)
                )


def test_the_size_of_the_shards_changes_no_example_and_no_line_of_the_report(tmp_path, faulty, full, monkeypatch):
    monkeypatch.setattr(write_collection, "_BUFFER", 100)
    monkeypatch.setattr(write_collection, "_SHARD_BYTES", 300)
    sharded = run_ingest(tmp_path, faulty)
    assert len(list((tmp_path / "collection").glob("documents-*"))) > 5
    assert sharded.lists == full.lists
    for role, file in sharded.report["files"].items():
        assert places(file) == places(full.report["files"][role])


def test_the_report_names_the_file_and_the_line_of_each_left_out_record(full):
    for role, first in (("queries", FAULTY_TEXTS), ("documents", FAULTY_TEXTS), ("judgments", FAULTY_JUDGMENTS)):
        file = full.report["files"][role]
        found = {drop["reason"]: drop["examples"] for drop in file["drops"]}
        # Both kinds of faulty records begin with a wrong number of fields and broken UTF-8, after 20 good lines.
        for line, (reason, record) in enumerate(zip(["field_count", "bad_utf8"], first, strict=False), 21):
            text = record.decode(errors="replace").replace("\t", " | ")
            assert found[reason] == [{"file": file["path"], "line": line, "text": text}]


def test_a_judgment_that_another_file_repeats_is_left_out_in_any_order_of_the_shards(
    tmp_path, collection, full, monkeypatch
):
    monkeypatch.setattr(write_collection, "_BUFFER", 1)
    monkeypatch.setattr(write_collection, "_SHARD_BYTES", 1)
    contents = {role: lines(records) for role, records in collection.items()}
    # Every judgment again, with another grade.
    again = lines([f"{record.rsplit(chr(9), 1)[0]}\t0" for record in collection["judgments"]])
    found = run_ingest(tmp_path, {**contents, "judgments": [contents["judgments"], again]})
    assert found.lists == full.lists
    assert found.drops("judgments") == {"duplicate_pair": len(collection["judgments"])}


def test_a_limit_keeps_the_first_judged_queries_of_the_file(limited, full):
    assert limited.lists == {query_id: full.lists[query_id] for query_id in ["40", "39", "38"]}
    assert limited.drops("queries") == {**DROPS["queries"], "no_judgment": 2, "beyond_limit": 40 - 3}


def test_documents_that_no_list_needs_are_counted(limited):
    needed = {doc_id for one in limited.lists.values() for doc_id in one.grades}
    assert limited.drops("documents")["not_in_a_list"] == 60 - len(needed) > 0


def test_candidates_are_taken_as_given(fixed):
    assert {query_id: (one.split, one.grades) for query_id, one in fixed.lists.items()} == CANDIDATE_LISTS


def test_nr_candidates_have_their_places_in_the_file(fixed):
    assert fixed.lists["2"].negative_places == {"d50": 0, "d2": -1, "d3": 1, "d40": -1}


def test_faulty_candidates_are_counted_by_reason(fixed):
    assert fixed.drops("candidates") == {
        "duplicate_pair": 1,
        "bad_split": 1,
        "unknown_query": 1,
        "unknown_document": 1,
        "query_dropped": 2 + 1,  # query 4 in two splits, query 5 without MR
    }
    others = 40 - 5 + 2  # without a candidate
    assert fixed.drops("queries") == {**TEXT_DROPS, "two_splits": 1, "no_most_relevant": 1, "no_judgment": others}


def test_a_query_needs_one_domain(domains, cold):
    with_domain = {query_id for query_id in cold.lists if query_id not in ("2", "38", "39", "40")}
    assert domains.lists.keys() == with_domain
    assert domains.drops("queries").items() >= {"no_domain": 3, "two_domains": 1}.items()
    assert (
        domains.drops("domains").items()
        >= {
            **{"duplicate_id": 1, "bad_domain": 1, "field_count": 1, "unknown_query": 1},
            "query_dropped": 2 + 1,  # query 2 with two domains, query 46 without MR
        }.items()
    )


def test_a_list_has_the_domain_of_its_query_and_without_domains_an_empty_one(domains, cold):
    for one in domains.lists.values():
        assert domain_of(one) == ("news" if int(one.query[0]) < 21 else "health")
    assert {domain_of(one) for one in cold.lists.values()} == {""}


def test_domains_change_nothing_else_of_a_list(domains, cold):
    for query_id, one in domains.lists.items():
        assert one._replace(example=b"") == cold.lists[query_id]._replace(example=b"")


def test_report_counts_the_lists_of_each_domain(domains, cold):
    lists = domains.lists.values()
    assert cold.report["domains"] == {}
    assert domains.report["domains"] == {
        name: {split: sum(one.split == split and domain_of(one) == name for one in lists) for split in SPLITS}
        for name in ("health", "news")
    }


def domain_of(one: ReadList) -> str:
    (domain,) = tf.train.Example.FromString(one.example).features.feature[f.QUERY_DOMAIN].bytes_list.value
    return domain.decode()


def test_grades_that_differ_from_the_judgments_are_counted(fixed, full):
    assert (fixed.report["grade_disagreements"], full.report["grade_disagreements"]) == (2, 0)
