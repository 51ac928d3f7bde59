"""WikiClirExampleGen on a small collection with a record of every fault: four jobs with different settings."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import tensorflow as tf

from components.collection_gen import write_collection
from components.wikiclir_example_gen.query_words import draw_query_words
from components.wikiclir_example_gen.sampling import is_cold, list_sort_key, sample_negatives
from schemas import features as f
from schemas.errors import DataError
from schemas.passages import PassageSettings, document_of, passage_id
from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, SOMEWHAT_RELEVANT
from schemas.splits import SPLITS, split_of
from tests.components.collected import collect

pytestmark = pytest.mark.stages

NEGATIVES, SEED, COLD = 4, 3, 0.3

# 40 queries, each with one MR and two SR documents among 60. The order of the file is not that of the ids.
# The documents 1 to 42 form one group, which is too large: each is its own unit.
NUMBERS = range(40, 0, -1)
DOC_IDS = [f"d{number}" for number in range(60)]
QUERIES = [f"{query}\tTitle {query}\tThe text of query {query}" for query in NUMBERS]
DOCUMENTS = [f"{doc_id}\tTitre {doc_id[1:]}\tLe texte du document {doc_id[1:]}" for doc_id in DOC_IDS]
JUDGMENTS = [f"{query}\td{query + offset}\t{grade}" for query in range(1, 41) for offset, grade in enumerate([2, 1, 1])]

# Broken records of each role, in the order of their lines: reason to record.
BROKEN_TEXTS = {
    "field_count": b"77\tonly a title",
    "bad_utf8": b"77\tnot UTF-8\t\xff",
    "nul_byte": b"77\tNUL\t\x00",
    "bad_id": b"7 7\twhite space in the id\ttext",
    "empty_text": b"77\tempty text\t ",
}
BROKEN = {
    "queries": {
        **BROKEN_TEXTS,
        "duplicate_id": QUERIES[0].encode(),
        "no_judgment": b"45\tTitle\tA query that nothing judges",
        "no_most_relevant": b"46\tTitle\tA query without an MR document",
    },
    "documents": {**BROKEN_TEXTS, "duplicate_id": DOCUMENTS[0].encode()},
    "judgments": {
        "field_count": b"1\td1",
        "bad_utf8": b"1\td1\t\xff",
        "nul_byte": b"1\td1\t\x00",
        "bad_id": b"\td1\t1",
        "bad_grade": b"1\td9\t-1",
        "duplicate_pair": b"1\td1\t0",  # its first judgment, as MR, stands in another file
        "unknown_query": b"99\td1\t2",
        "unknown_document": b"1\td99\t2",
        "query_dropped": b"46\td1\t1",
    },
}
GOOD_BEFORE, IN_FIRST_FILE = 20, 22
"""The good lines before the broken ones, and the lines of the first of two files, with two broken ones."""
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
    "1": ("eval", {"d1": 2, "d2": 1, "d3": 1, "d30": 0}, {"d1": -1, "d2": -1, "d3": -1, "d30": 0}),
    "2": ("test", {"d50": 0, "d2": 2, "d3": 0, "d40": 1}, {"d50": 0, "d2": -1, "d3": 1, "d40": -1}),
    "3": ("train", {"d3": 2, "d4": 1}, {"d3": -1, "d4": -1}),
}
DOMAINS = [
    *[f"{query}\tnews" for query in range(1, 21)],
    *[f"{query}\thealth" for query in range(21, 38)],  # queries 38, 39 and 40 have none
    *["1\tnews", "2\thealth", "3\ta/b", "4", "99\tnews", "46\tnews"],  # 46 is a query that is left out
]
WITH_ONE_DOMAIN = [query for query in NUMBERS if query < 38 and query != 2]
LIMIT = 30


class ReadList(NamedTuple):
    """An example, read back."""

    split: str
    domain: str
    query: tuple[str, str, str]
    documents: list[tuple[str, str, str]]
    grades: dict[str, int]
    negative_positions: dict[str, int]


class Ingestion(NamedTuple):
    """The output of one run of the stage, and the error that ended it."""

    lists: dict[str, ReadList]
    report: dict[str, Any]
    examples: Any
    error: str

    def drops(self, role: str) -> dict[str, int]:
        return {drop["reason"]: drop["count"] for drop in self.report["files"][role]["drops"]}


def lines(records: Sequence[str | bytes]) -> bytes:
    return b"".join((record.encode() if isinstance(record, str) else record) + b"\n" for record in records)


def read_list(split: str, record: bytes) -> ReadList:
    feature = tf.train.Example.FromString(record).features.feature

    def texts(*names: str) -> list[tuple[str, ...]]:
        columns = [[value.decode() for value in feature[name].bytes_list.value] for name in names]
        return list(zip(*columns, strict=True))

    ((domain,),), (query,) = texts(f.QUERY_DOMAIN), texts(f.QUERY_ID, f.QUERY_TITLE, f.QUERY_TEXT)
    documents = texts(f.DOC_ID, f.DOC_TITLE, f.DOC_TEXT)
    grades, positions = (
        {document[0]: value for document, value in zip(documents, feature[name].int64_list.value, strict=True)}
        for name in (f.RELEVANCE, f.NEGATIVE_PLACE)
    )
    return ReadList(split, domain, query, documents, grades, positions)


@pytest.fixture(scope="module")
def contents() -> dict[str, bytes]:
    """The files of the collection, with the broken records between the good ones."""
    good = {"queries": QUERIES, "documents": DOCUMENTS, "judgments": JUDGMENTS}
    return {
        role: lines([*records[:GOOD_BEFORE], *BROKEN[role].values(), *records[GOOD_BEFORE:]])
        for role, records in good.items()
    }


@pytest.fixture(scope="module")
def ingest(make_artifact, tmp_path_factory) -> Callable[..., Ingestion]:
    """Runs the stage on files; it must end with an error where `max_bad_share` is 0."""
    import apache_beam as beam

    from components.passage_gen.component import PassageGen
    from components.wikiclir_example_gen.component import WikiClirExampleGen
    from components.wikiclir_example_gen.lists import IngestSettings

    def ingest(
        contents: Mapping[str, bytes | Sequence[bytes]],
        max_bad_share: float = 1.0,
        passages: PassageSettings | None = None,
        **settings: Any,
    ) -> Ingestion:
        folder = tmp_path_factory.mktemp("ingest")
        artifacts = [make_artifact(kind, folder) for kind in ("Collection", "Examples", "IngestionReport")]
        collection, examples, report = artifacts
        collect(Path(collection.uri), contents)
        values = IngestSettings(NEGATIVES, SEED, **{"max_queries": None, "top_grade": MOST_RELEVANT, **settings})
        parts = make_artifact("Collection", folder / "passages") if passages else None
        if passages:
            PassageGen.test_call(collection, parts, map, passages, segmented=False)
        with nullcontext() if max_bad_share else pytest.raises(DataError) as error:
            WikiClirExampleGen.test_call(*artifacts, lambda: beam.Pipeline(argv=[]), values, max_bad_share, parts)
        lists = [
            read_list(split, record)
            for split in SPLITS
            for record in tf.data.TFRecordDataset(files_of(examples, split), "GZIP").as_numpy_iterator()
        ]
        query_id_to_list = {ranking_list.query[0]: ranking_list for ranking_list in lists}
        assert len(query_id_to_list) == len(lists), "a query stands in two examples"
        content = json.loads(Path(report.uri, "report.json").read_text())
        return Ingestion(query_id_to_list, content, examples, str(error.value) if error else "")

    return ingest


def files_of(examples: Any, split: str) -> list[str]:
    return sorted(map(str, Path(examples.uri, f"Split-{split}").glob("data_tfrecord-*-of-*.gz")))


@pytest.fixture(scope="module")
def full(ingest, contents) -> Ingestion:
    """Each role in two files, of several small shards; no broken record is allowed."""
    halves = {}
    for role, content in contents.items():
        every = content.splitlines(keepends=True)
        halves[role] = [b"".join(every[:IN_FIRST_FILE]), b"".join(every[IN_FIRST_FILE:])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_collection, "_BUFFER", 100)
        patch.setattr(write_collection, "_SHARD_BYTES", 300)
        return ingest(halves, max_bad_share=0.0)


@pytest.fixture(scope="module")
def limited(ingest, contents) -> Ingestion:
    """Keyword queries with a domain, a limit, cold documents, short test lists, and two files a split."""
    return ingest(
        {**contents, "domains": lines(DOMAINS)},
        **{"query_words": 2, "max_queries": LIMIT, "cold_share": COLD, "test_negatives": 2, "shards": 2},
    )


@pytest.fixture(scope="module")
def divided(ingest, contents) -> Ingestion:
    """Documents divided among the splits, some of them cold, and long test lists."""
    return ingest(contents, split="documents", cold_share=COLD, test_negatives=2 * NEGATIVES)


@pytest.fixture(scope="module")
def fixed(ingest, contents) -> Ingestion:
    """Lists of candidates."""
    return ingest({**contents, "candidates": lines(CANDIDATES)})


def test_lists_hold_the_passages_of_their_documents_in_order(ingest, contents, full) -> None:
    # "Le texte du document 7" has five words.
    split = ingest(contents, passages=PassageSettings(words=3, overlap=1))
    assert split.report == {**full.report, "files": split.report["files"]}
    assert [split.drops(role) for role in contents] == [full.drops(role) for role in contents]
    assert split.lists.keys() == full.lists.keys()
    for query_id, whole in full.lists.items():
        passages = split.lists[query_id]
        assert [doc_id for doc_id, _, _ in passages.documents] == [
            passage_id(doc_id, number) for doc_id, _, _ in whole.documents for number in range(2)
        ]
        for name in ("grades", "negative_positions"):
            expected = {doc_id: getattr(whole, name)[document_of(doc_id)] for doc_id in passages.grades}
            assert getattr(passages, name) == expected
        assert {text for _, _, text in passages.documents} >= {"Le texte du"}


@pytest.fixture(params=["full", "limited", "divided", "fixed"])
def ingestion(request) -> Ingestion:
    """Each of the jobs in turn."""
    return request.getfixturevalue(request.param)


def contents_of(ingestion: Ingestion) -> dict[str, Any]:
    return {
        query_id: (ranking_list.split, ranking_list.grades, ranking_list.negative_positions)
        for query_id, ranking_list in ingestion.lists.items()
    }


def expected_lists(
    queries: Sequence[int], by_documents: bool = False, cold_share: float = 0.0, test_negatives: int = NEGATIVES
) -> dict[str, Any]:
    """Split, grades and positions in the draw of each query's list, by the plain rules."""
    lists = {}
    for query in queries:
        judged = {f"d{query}": MOST_RELEVANT, f"d{query + 1}": SOMEWHAT_RELEVANT, f"d{query + 2}": SOMEWHAT_RELEVANT}
        split = split_of(f"d{query}" if by_documents else str(query))
        kept = {
            doc_id: grade
            for doc_id, grade in judged.items()
            if not (by_documents and split_of(doc_id) != split)
            and not (split != "test" and is_cold(doc_id, SEED, cold_share))
        }
        if f"d{query}" in kept:
            count = test_negatives if split == "test" else NEGATIVES
            negatives = sample_negatives(str(query), SEED, count, DOC_IDS, judged)
            draws = {doc_id: position for position, doc_id in enumerate(negatives)}
            lists[str(query)] = split, kept | dict.fromkeys(negatives, NOT_RELEVANT), dict.fromkeys(kept, -1) | draws
    return lists


def test_a_list_has_its_judged_and_drawn_documents_in_the_split_of_its_query(full, limited):
    assert contents_of(full) == expected_lists(NUMBERS)
    # The limit counts the queries that have a list, in the order of the file, before cold ones are left out.
    assert contents_of(limited) == expected_lists(WITH_ONE_DOMAIN[:LIMIT], cold_share=COLD, test_negatives=2)
    for job in (full, limited):
        assert {ranking_list.split for ranking_list in job.lists.values()} == {*SPLITS}


def test_documents_are_split_by_a_hash_of_their_unit_and_a_list_loses_those_of_other_splits(divided):
    assert contents_of(divided) == expected_lists(NUMBERS, True, COLD, 2 * NEGATIVES)
    assert divided.drops("judgments")["other_split"] > 0


def test_candidates_are_taken_as_they_are(fixed, full):
    assert contents_of(fixed) == CANDIDATE_LISTS
    assert (fixed.report["grade_disagreements"], full.report["grade_disagreements"]) == (2, 0)


def test_examples_carry_titles_and_texts_and_the_order_says_nothing_about_the_grades(ingestion):
    for query_id, ranking_list in ingestion.lists.items():
        assert ranking_list.query[:2] == (query_id, f"Title {query_id}")
        doc_ids = sorted(ranking_list.grades, key=lambda doc_id, query_id=query_id: list_sort_key(query_id, doc_id))
        assert ranking_list.documents == [tuple(DOCUMENTS[int(doc_id[1:])].split("\t")) for doc_id in doc_ids]


def test_queries_are_whole_or_some_of_their_words(limited, full):
    texts = {str(query): f"The text of query {query}" for query in NUMBERS}
    drawn = draw_query_words(texts, 2, SEED)
    for job, expected, count in ((full, texts, None), (limited, drawn, 2)):
        assert all(ranking_list.query[2] == expected[query_id] for query_id, ranking_list in job.lists.items())
        assert job.report["query_words"] == count


def test_a_list_has_the_domain_of_its_query_and_without_domains_an_empty_one(limited, full):
    domain_and_split = [(ranking_list.domain, ranking_list.split) for ranking_list in limited.lists.values()]
    assert [domain for domain, _ in domain_and_split] == [
        "news" if int(query_id) < 21 else "health" for query_id in limited.lists
    ]
    assert limited.report["domains"] == {
        name: {split: domain_and_split.count((name, split)) for split in SPLITS} for name in ("health", "news")
    }
    assert {ranking_list.domain for ranking_list in full.lists.values()} == {""} and full.report["domains"] == {}


def test_the_artifact_is_what_tfx_reads(full, limited):
    from tfx.components.util import examples_utils
    from tfx.proto import example_gen_pb2
    from tfx.types import artifact_utils

    assert artifact_utils.decode_split_names(full.examples.split_names) == [*SPLITS]
    assert examples_utils.get_payload_format(full.examples) == example_gen_pb2.FORMAT_TF_EXAMPLE
    assert examples_utils.get_file_format(full.examples) == "tfrecords_gzip"
    for split in SPLITS:
        assert len(files_of(limited.examples, split)) == 2


# The report


def test_every_file_balances_and_the_used_records_are_those_in_an_example(ingestion):
    pairs = {(query_id, doc_id) for query_id, ranking_list in ingestion.lists.items() for doc_id in ranking_list.grades}
    in_an_example = {
        "queries": len(ingestion.lists),
        "documents": len({doc_id for _, doc_id in pairs}),
        "judgments": len(pairs & {tuple(line.split("\t")[:2]) for line in JUDGMENTS}),
        "candidates": len(pairs),
        "domains": len(ingestion.lists),
    }
    for role, file in ingestion.report["files"].items():
        assert file["used"] == in_an_example[role], role
        assert file["read"] == file["used"] + sum(ingestion.drops(role).values()), role
    assert ingestion.drops("documents").get("not_in_a_list", 0) == len(DOC_IDS) - in_an_example["documents"]


def test_report_counts_the_written_lists_and_pairs(ingestion):
    for split in SPLITS:
        sizes = [len(ranking_list.grades) for ranking_list in ingestion.lists.values() if ranking_list.split == split]
        assert (ingestion.report["lists"][split], ingestion.report["pairs"][split]) == (len(sizes), sum(sizes))


def test_each_broken_record_is_counted_by_its_reason_with_its_file_and_line(full):
    for role, records in BROKEN.items():
        path = full.report["files"][role]["path"].split(" and ")
        expected = {}
        for line, (reason, record) in enumerate(records.items(), GOOD_BEFORE + 1):
            in_second = line > IN_FIRST_FILE
            text = record.decode(errors="replace").replace("\t", " | ").replace("\0", "\N{REPLACEMENT CHARACTER}")
            if reason in ("no_judgment", "no_most_relevant"):
                text = text.split(" | ")[0]
            if reason == "no_most_relevant":
                text += " | its highest grade is 1, data.top_grade is 2"
            expected[reason] = 1, [{"file": path[in_second], "line": line - in_second * IN_FIRST_FILE, "text": text}]
        drops = {drop["reason"]: (drop["count"], drop["examples"]) for drop in full.report["files"][role]["drops"]}
        assert drops == expected, role


def test_a_collection_that_is_too_bad_is_refused_and_its_report_stays(full):
    assert all(file["path"] in full.error for file in full.report["files"].values())


def test_queries_left_out_by_domain_limit_and_cold_document_are_counted(limited):
    broken = dict.fromkeys(BROKEN["queries"], 1)
    kept = WITH_ONE_DOMAIN[:LIMIT]
    beyond = len(WITH_ONE_DOMAIN) - LIMIT
    cold = sum(split_of(str(query)) != "test" and is_cold(f"d{query}", SEED, COLD) for query in kept)
    assert beyond > 0 and cold > 0
    assert limited.drops("queries") == {
        **broken,
        "no_domain": 3,
        "two_domains": 1,
        "beyond_limit": beyond,
        "cold": cold,
    }
    assert limited.drops("domains") == {
        **{"repeated": 1, "bad_domain": 1, "field_count": 1, "unknown_query": 1},
        "query_dropped": 2 + 1,  # query 2 with two domains, query 46 without MR
        **{"beyond_limit": beyond, "cold": cold},
    }


def test_faulty_candidates_are_counted_by_reason(fixed):
    assert fixed.drops("candidates") == {
        **{"repeated": 1, "bad_split": 1, "unknown_query": 1, "unknown_document": 1},
        "query_dropped": 2 + 1,  # query 4 in two splits, query 5 without MR
    }
    without_candidate = 40 - 5 + 2
    assert fixed.drops("queries") == {
        **dict.fromkeys([*BROKEN_TEXTS, "duplicate_id", "two_splits", "no_most_relevant"], 1),
        "no_judgment": without_candidate,
    }
