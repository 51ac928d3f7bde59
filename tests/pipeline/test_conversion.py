"""Other layouts into our files: what is written, what is left out and why, and whose folder it is."""

import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.wikiclir_example_gen.sampling import sample_negatives
from pipeline import even_sample
from pipeline.config_file import load_config
from pipeline.conversion.convert import CONVERSION, MAX_WORDS, Conversion, convert
from pipeline.conversion.inputs import ConversionSettings, FirstStage, Sources
from pipeline.made_folder import MadeFolder, made_fault
from pipeline.output_folder import output_fault
from schemas.drops import Drop
from schemas.errors import DataError
from schemas.record_files import parse_role, parse_texts
from schemas.splits import SPLITS, split_of
from schemas.trec import RunLine
from schemas.wikiclir import Judgment, Text

DOC_IDS = [f"d{number}" for number in range(9)]
QUERY_IDS = [f"q{number}" for number in range(30)]
DOCUMENTS = "".join(
    json.dumps({"_id": doc_id, "title": f"T{doc_id}", "text": f"text of {doc_id}"}) + "\n" for doc_id in DOC_IDS
)
QUERIES = "".join(f"{query_id}\tquery {query_id}\n" for query_id in QUERY_IDS)
QRELS = "".join(f"{query_id} 0 d1 2\n{query_id} 0 d2 1\n" for query_id in QUERY_IDS)


class Written(NamedTuple):
    """The records of a conversion's folder, read by our own reader."""

    queries: dict[str, Text]
    documents: dict[str, Text]
    judgments: list[Judgment]
    candidates: list[Judgment]

    def lists(self) -> dict[str, dict[str, int]]:
        """query_id to doc_id to grade, in the order of the candidates."""
        grades: dict[str, dict[str, int]] = {}
        for candidate in self.candidates:
            grades.setdefault(candidate.query_id, {})[candidate.doc_id] = candidate.grade
        return grades

    def splits(self) -> dict[str, str]:
        """query_id to its split."""
        return {candidate.query_id: candidate.split for candidate in self.candidates}


def read(folder: Path) -> Written:
    """The files of a conversion; none of their lines is left out."""
    top_grade = load_config(str(folder / "config.yaml")).data.top_grade
    texts: list[dict[str, Text]] = []
    for name in ("queries.tsv", "documents.tsv"):
        with open(folder / name, "rb") as stream:
            items = [*parse_texts(stream, name)]
        assert not [item for item in items if isinstance(item, Drop)]
        texts.append({item.id: item for item in items if isinstance(item, Text)})
    judgments: list[list[Judgment]] = [[], []]
    for records, role in zip(judgments, ("judgments", "candidates"), strict=True):
        name = f"{role}.tsv"
        if (folder / name).exists():
            with open(folder / name, "rb") as stream:
                items_read = [*parse_role(role, stream, name, top_grade, None)]
            assert not [item for item in items_read if isinstance(item, Drop)]
            records.extend(item for item in items_read if isinstance(item, Judgment))
    return Written(*texts, *judgments)


class Collection:
    """Foreign files in a folder, and their conversion into `out` beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "out"

    def __call__(
        self,
        qrels: str | Mapping[str, str] = QRELS,
        run: str | None = None,
        queries: str = QUERIES,
        documents: str = DOCUMENTS,
        **settings: object,
    ) -> Conversion:
        texts = {"queries": queries, "documents": documents, "run": run}
        named = {"": qrels} if isinstance(qrels, str) else qrels
        texts |= {f"qrels{split}": text for split, text in named.items()}
        for name, text in texts.items():
            if text is not None:
                (self.folder / name).write_bytes(text.encode())
        sources = Sources(
            str(self.folder / "queries"),
            str(self.folder / "documents"),
            tuple((split, str(self.folder / f"qrels{split}")) for split in named),
            None if run is None else str(self.folder / "run"),
        )
        return convert(sources, ConversionSettings("en", "no", **settings), self.out)  # type: ignore[arg-type]

    def left_out(self, conversion: Conversion, file: str) -> dict[str, int]:
        """Reason to its number of left-out lines of a file."""
        return {drop.reason.name: drop.count for drop in conversion.files[file].drops}


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return Collection(tmp_path)


def judged(query_ids: list[str]) -> str:
    return "".join(f"{query_id} 0 d1 2\n" for query_id in query_ids)


def ranked(query_id: str, *doc_ids: str) -> str:
    return "".join(f"{query_id} Q0 {doc_id} {rank} {10 - rank} first\n" for rank, doc_id in enumerate(doc_ids, 1))


# What a run would cut


def documents_of(*words: int) -> str:
    """Documents of so many words."""
    return "".join(f"d{number}\t{'word ' * count}\n" for number, count in enumerate(words))


def notes_on_cuts(conversion: Conversion) -> list[str]:
    return [note for note in conversion.notes if "max_document_tokens" in note]


@pytest.mark.tensors
def test_a_note_says_what_a_run_would_cut_and_more_than_a_tenth_is_a_warning(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert notes_on_cuts(collection(documents=documents_of(MAX_WORDS, MAX_WORDS, 1))) == []
    (few,) = notes_on_cuts(collection(documents=documents_of(MAX_WORDS, 9 * MAX_WORDS // 8, 1, 1)))
    assert few.startswith("25.0% ") and f"{MAX_WORDS} words" in few and f"{25 / 427:.1%}" in few
    (much,) = notes_on_cuts(collection(documents=documents_of(2 * MAX_WORDS, 1, 1)))
    assert much.startswith(f"warning: {1 / 3:.1%} ") and f"{200 / 402:.1%}" in much
    assert much in json.loads((collection.out / "conversion.json").read_text())["account"]["notes"]
    # Of many texts it is on an even sample, and says so.
    monkeypatch.setattr(even_sample, "SAMPLE", 2)
    (sampled,) = notes_on_cuts(collection(documents=documents_of(*[2 * MAX_WORDS, 1] * 4)))
    assert all(part in sampled for part in ("sample of 2 documents", "100.0%", "50.0%"))


# What is written


def test_files_and_a_configuration_are_written_that_our_own_readers_take(collection: Collection) -> None:
    conversion = collection()
    written = read(collection.out)
    assert conversion.written == ("config.yaml", "documents.tsv", "judgments.tsv", "queries.tsv")
    assert [*written.queries] == QUERY_IDS and [*written.documents] == DOC_IDS
    assert written.documents["d3"][:3] == ("d3", "Td3", "text of d3")
    assert [judgment[:3] for judgment in written.judgments[:2]] == [("q0", "d1", 2), ("q0", "d2", 1)]
    config = load_config(str(collection.out / "config.yaml"))
    assert (config.data.query_language, config.data.document_language) == ("en", "no")
    assert config.output == str(collection.out.resolve() / "run")
    assert output_fault(config.output, "run") is None


def test_one_named_split_or_none_leaves_the_splits_and_the_negatives_to_the_run(collection: Collection) -> None:
    for qrels in (QRELS, {"test": QRELS}):
        conversion = collection(qrels, negatives=7, with_titles=True)
        assert not (collection.out / "candidates.tsv").exists()
        assert conversion.lists == {
            split: sum(split_of(query_id) == split for query_id in QUERY_IDS) for split in SPLITS
        }
        assert load_config(str(collection.out / "config.yaml")).data.negatives == 7
        assert read(collection.out).documents["d1"].text == "Td1 text of d1"


def test_named_splits_stand_in_the_candidates(collection: Collection) -> None:
    parts = {"train": QUERY_IDS[:20], "eval": QUERY_IDS[20:25], "test": QUERY_IDS[25:]}
    collection({split: judged(ids) for split, ids in parts.items()})
    assert read(collection.out).splits() == {query_id: split for split, ids in parts.items() for query_id in ids}


@pytest.mark.parametrize(
    ("named", "missing", "donor"),
    [(("train", "test"), "eval", "train"), (("train", "eval"), "test", "train"), (("eval", "test"), "train", "eval")],
)
def test_a_third_split_takes_its_share_of_another_s_queries(
    collection: Collection, named: tuple[str, str], missing: str, donor: str
) -> None:
    second = named[1 - named.index(donor)]
    conversion = collection({donor: judged(QUERY_IDS[:25]), second: judged(QUERY_IDS[25:])})
    splits = read(collection.out).splits()
    assert {query_id for query_id, split in splits.items() if split == missing} == {
        query_id for query_id in QUERY_IDS[:25] if split_of(query_id) == missing
    }
    assert {splits[query_id] for query_id in QUERY_IDS[25:]} == {second}
    assert any(f"no judgments are named {missing}" in note for note in conversion.notes)


def test_lists_hold_the_judged_documents_and_those_that_a_run_would_draw(collection: Collection) -> None:
    collection({"train": QRELS, "test": "q99 0 d1 2\n"}, queries=f"{QUERIES}q99\tquery\n", negatives=4)
    for query_id, grades in read(collection.out).lists().items():
        relevant = {"d1": 2, "d2": 1} if query_id != "q99" else {"d1": 2}
        drawn = sample_negatives(query_id, 1, 4, DOC_IDS, relevant)
        assert list(grades.items()) == [*relevant.items(), *((doc_id, 0) for doc_id in drawn)]


def test_no_copy_of_a_relevant_document_is_drawn(collection: Collection) -> None:
    documents = f"{DOCUMENTS}{json.dumps({'_id': 'copy', 'title': 'Td1', 'text': 'text of d1'})}\n"
    collection(
        {"train": QRELS, "test": "q99 0 d3 2\n"}, queries=f"{QUERIES}q99\tquery\n", documents=documents, negatives=9
    )
    has_copy = {query_id: "copy" in grades for query_id, grades in read(collection.out).lists().items()}
    assert has_copy == {query_id: query_id == "q99" for query_id in has_copy} and len(has_copy) > 1


# Grades


@pytest.mark.parametrize(
    ("grades", "top_grade", "theta"),
    [((0, 1), 1, (0.2, 0.7)), ((0, 1, 3), 3, (0.2, 0.45, 0.7)), ((4, 0), 4, (0.2, 0.367, 0.533, 0.7))],
)
def test_the_highest_grade_is_the_top_one_with_as_many_thresholds(
    collection: Collection, grades: tuple[int, ...], top_grade: int, theta: tuple[float, ...]
) -> None:
    qrels = "".join(f"{query_id} 0 d{grade} {grade}\n" for query_id in QUERY_IDS for grade in grades)
    assert collection(qrels).top_grade == top_grade
    config = load_config(str(collection.out / "config.yaml"))
    assert (config.data.top_grade, config.loss.theta) == (top_grade, theta)


def test_grades_below_0_are_0_and_those_above_the_top_grade_are_the_top_grade(collection: Collection) -> None:
    conversion = collection(f"{QRELS}q0 0 d3 -2\nq0 0 d4 -1\n", top_grade=1)
    grades = {(judgment.doc_id, judgment.grade) for judgment in read(collection.out).judgments}
    assert (conversion.top_grade, grades) == (1, {("d1", 1), ("d2", 1), ("d3", 0), ("d4", 0)})
    assert any("2 grades below 0" in note for note in conversion.notes)


def test_a_query_without_the_top_grade_is_left_out_with_its_judgments(collection: Collection) -> None:
    conversion = collection(f"{QRELS}q77 0 d3 1\n", queries=f"{QUERIES}q77\tquery\n")
    assert collection.left_out(conversion, "queries") == {"NO_TOP_GRADE": 1}
    assert collection.left_out(conversion, "judgments") == {"QUERY_DROPPED": 1}
    assert "q77" not in read(collection.out).queries
    assert any("1 of 31 " in note and "grade 2" in note for note in conversion.notes)


@pytest.mark.parametrize(("grade", "top_grade"), [(0, None), (-1, None), (1, 2)])
def test_without_a_document_of_the_top_grade_there_is_nothing_to_learn(
    collection: Collection, grade: int, top_grade: int | None
) -> None:
    with pytest.raises(DataError, match=f"highest is {grade}"):
        collection(f"q0 0 d1 {grade}\n", top_grade=top_grade)


# A first stage


def test_the_first_documents_of_a_run_are_the_list_in_its_order(collection: Collection) -> None:
    conversion = collection(run="".join(ranked(query_id, "d5", "d1", "d4", "d2") for query_id in QUERY_IDS), depth=3)
    written = read(collection.out)
    for query_id, split in written.splits().items():
        # d2 is judged, and beyond the depth: train and eval lists have it, for training shall see it.
        expected = {"d5": 0, "d1": 2, "d4": 0} | ({} if split == "test" else {"d2": 1})
        assert list(written.lists()[query_id].items()) == list(expected.items())
    tests = conversion.lists["test"]
    assert collection.left_out(conversion, "run") == {"BEYOND_DEPTH": 30}
    (note,) = [note for note in conversion.notes if note.startswith("judged documents that the run lacks: ")]
    assert note.endswith(f": {30 - tests} added to train and eval lists, {tests} left out of test lists")


def test_a_test_query_is_left_out_whose_list_lacks_the_top_grade_and_that_is_a_warning(collection: Collection) -> None:
    qrels = {"train": judged(QUERY_IDS[:10]), "eval": judged(QUERY_IDS[10:20]), "test": judged(QUERY_IDS[20:])}
    run = "".join(ranked(query_id, "d5", "d4") for query_id in QUERY_IDS[:21]) + "".join(
        ranked(query_id, "d5", "d1") for query_id in QUERY_IDS[21:]
    )
    conversion = collection(qrels, run)
    assert conversion.lists == {"train": 10, "eval": 10, "test": 9}
    assert collection.left_out(conversion, "queries") == {"NO_TOP_GRADE_IN_RUN": 1}
    assert any(note.startswith("warning: 1 test queries are left out") for note in conversion.notes)


def test_queries_that_the_run_lacks_and_lines_of_it_that_cannot_be_used_are_counted(collection: Collection) -> None:
    run = "".join(ranked(query_id, "d1") for query_id in QUERY_IDS[1:])
    run += ranked("q1", "d1") + ranked("q99", "d1") + ranked("q1", "d99") + ranked("q88", "d1")
    conversion = collection(run=run, queries=f"{QUERIES}q88\tnot judged\n", max_bad_share=0.5)
    assert collection.left_out(conversion, "run") == {
        "DUPLICATE_PAIR": 1, "UNKNOWN_QUERY": 1, "UNKNOWN_DOCUMENT": 1, "NO_JUDGMENT": 1,
    }  # fmt: skip
    assert collection.left_out(conversion, "queries") == {"NOT_IN_RUN": 1}
    assert "q0" not in read(collection.out).queries


@given(
    st.lists(st.tuples(st.sampled_from(DOC_IDS), st.integers(0, 3)), unique_by=lambda scored: scored[0]),
    st.integers(1, 9),
)
def test_a_first_stage_keeps_the_best_of_lines_in_any_order(scored: list[tuple[str, int]], depth: int) -> None:
    stage = FirstStage(depth)
    lines = [RunLine("q", doc_id, score, line) for line, (doc_id, score) in enumerate(scored, 1)]
    beyond = [dropped for line in lines if (dropped := stage.add(line))]
    expected = sorted(lines, key=lambda line: (-line.score, line.line))
    assert stage.lines("q") == expected[:depth]
    assert sorted(beyond, key=lambda line: (-line.score, line.line)) == expected[depth:]
    assert all(stage.keeps(line) == (line not in beyond) for line in lines)


# What is left out


def test_what_cannot_be_used_is_left_out_by_reason_with_its_place(collection: Collection) -> None:
    conversion = collection(
        QRELS + "q0 0 d1 1\nq99 0 d1 1\nq0 0 d99 1\nq0 0 d3 one\n",
        queries=f"{QUERIES}q0\tagain\nq40\n",
        documents=DOCUMENTS + '{"_id": "d1", "text": "again"}\n{"_id": "d10"}\n',
        max_bad_share=0.2,
    )
    assert collection.left_out(conversion, "queries") == {"FIELD_COUNT": 1, "DUPLICATE_ID": 1}
    assert collection.left_out(conversion, "documents") == {"DUPLICATE_ID": 1, "NO_TEXT": 1}
    assert collection.left_out(conversion, "judgments") == {
        "DUPLICATE_PAIR": 1, "UNKNOWN_QUERY": 1, "UNKNOWN_DOCUMENT": 1, "BAD_GRADE": 1,
    }  # fmt: skip
    lines = [*conversion.describe()]
    assert f"  {collection.folder}/qrels:62: unknown query: q99 | d1 | 1" in lines
    account = json.loads((collection.out / "conversion.json").read_text())["account"]
    assert account["inputs"]["queries"]["drops"][0]["examples"][0]["line"] == 32


def test_a_query_stays_in_the_split_that_names_it_first(collection: Collection) -> None:
    conversion = collection({"train": QRELS, "test": "q0 0 d3 2\n" + judged(["q50"])}, queries=f"{QUERIES}q50\tx\n",
                            max_bad_share=0.5)  # fmt: skip
    assert collection.left_out(conversion, "judgments test") == {"TWO_SPLITS": 1}
    assert read(collection.out).splits()["q0"] != "test"


def test_too_many_bad_lines_are_an_error_that_names_the_first(collection: Collection) -> None:
    with pytest.raises(
        DataError, match=r"(?s)documents: 1 of 10 lines .* 0\.05 .*--max-bad-share.*documents:10: no JSON"
    ):
        collection(documents=DOCUMENTS + "no JSON\n")
    assert not any(path.name != ".lock" for path in collection.out.iterdir())


# Laws

ids = st.sampled_from(["q1", "q2", "q3", "d1", "d2", "d3", "x y", "\ufeffq1", ""])
texts = st.sampled_from(["a text", "two\nlines", "tab\ttab", " ", "", "\ud83d", "\x00", "x" * 300])
objects = st.fixed_dictionaries({"_id": ids, "title": texts, "text": texts}).map(json.dumps)
columns = st.tuples(ids, st.sampled_from(["a text", " ", ""])).map("\t".join)
# An empty id between spaces would make a line of three columns, which may then be the form of the file.
qrels = st.tuples(
    ids.filter(bool), st.just("0"), ids.filter(bool), st.sampled_from(["-1", "0", "1", "2", "3", "x"])
).map(" ".join)
runs = st.tuples(ids.filter(bool), ids.filter(bool), st.sampled_from(["3", "2.5", "-1", "nan"])).map(
    lambda row: f"{row[0]} Q0 {row[1]} 1 {row[2]} t"
)
garbage = st.text(max_size=9).filter(lambda line: "\n" not in line)


def file_of(lines: st.SearchStrategy[str], *first: str) -> st.SearchStrategy[str]:
    return st.lists(lines | garbage, max_size=9).map(
        lambda further: "".join(f"{line}\n" for line in [*first, *further])
    )


@given(
    queries=file_of(objects, '{"_id": "q1", "text": "one"}') | file_of(columns, "q1\tone"),
    documents=file_of(objects, '{"_id": "d1", "text": "one"}', '{"_id": "d2", "text": "two"}'),
    judgments=file_of(qrels, "q1 0 d1 2"),
    more=st.none() | file_of(qrels, "q2 0 d2 1"),
    run=st.none() | file_of(runs, "q1 Q0 d1 1 9 t"),
    depth=st.integers(1, 3),
)
def test_every_line_is_written_or_left_out_and_what_is_written_reads_back_whole(
    queries: str, documents: str, judgments: str, more: str | None, run: str | None, depth: int
) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        collection = Collection(folder)
        named = judgments if more is None else {"train": judgments, "test": more}
        conversion = collection(named, run, queries, documents, depth=depth, negatives=2, max_bad_share=1)
        written = read(collection.out)
        lines = {"queries": queries, "documents": documents, "judgments": judgments, "run": run or ""}
        lines |= {"judgments train": judgments, "judgments test": more or ""}
        for name, file in conversion.files.items():
            # That these balance, the account itself asks.
            assert file.read == lines[name].rstrip("\r\n").count("\n") + bool(lines[name])
        assert conversion.files["queries"].used == len(written.queries)
        assert conversion.files["documents"].used == len(written.documents)
        used = [file.used for name, file in conversion.files.items() if name.startswith("judgments")]
        assert sum(used) == len(written.judgments)
        for judgment in [*written.judgments, *written.candidates]:
            assert judgment.query_id in written.queries and judgment.doc_id in written.documents
        assert conversion.pairs == len(written.candidates)
        for grades in written.lists().values():
            assert max(grades.values()) == conversion.top_grade
    finally:
        shutil.rmtree(folder)


# Whose folder it is


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != ".lock"}


SPLIT = {"qrels": {"train": QRELS, "test": judged(["q50"])}, "queries": f"{QUERIES}q50\tx\n"}


def test_the_same_conversion_twice_gives_the_same_files_and_another_replaces_them(collection: Collection) -> None:
    collection(**SPLIT)  # type: ignore[arg-type]
    first = contents(collection.out)
    collection(**SPLIT)  # type: ignore[arg-type]
    assert contents(collection.out) == first
    (collection.out / "notes.txt").write_text("mine")
    (collection.out / "run").mkdir()
    conversion = collection("q0 0 d1 1\n")
    assert {path.name for path in collection.out.iterdir()} == {
        "config.yaml", "conversion.json", "documents.tsv", "judgments.tsv", "notes.txt", "queries.tsv", "run",
    }  # fmt: skip
    assert "candidates" not in (collection.out / "config.yaml").read_text()
    assert any(note.startswith("warning: ") and "every split" in note for note in conversion.notes)


def test_a_conversion_that_fails_leaves_an_earlier_one_as_it_was(collection: Collection) -> None:
    collection()
    before = contents(collection.out)
    with pytest.raises(DataError):
        collection(documents="no JSON\n")
    after = contents(collection.out)
    assert {**after, "conversion.json": b""} == {**before, "conversion.json": b""}
    assert made_fault(str(collection.out), CONVERSION) is None
    # It is no run's folder, either.
    assert "earlier run" in str(output_fault(str(collection.out), "run"))


@pytest.mark.parametrize("name", ["queries.tsv", "candidates.tsv", ".conversion.partial", "config.yaml"])
def test_a_stranger_s_file_is_not_overwritten(collection: Collection, name: str) -> None:
    if name == "queries.tsv":
        collection.out.mkdir()  # without a record, the folder is none of ours
    else:
        collection()
    (collection.out / name).write_text("preset: paper")
    before = contents(collection.out)
    with pytest.raises(DataError, match=re.escape(name)):
        collection()
    assert contents(collection.out) == before


def test_a_folder_in_a_file_s_place_is_refused(collection: Collection) -> None:
    collection()
    (collection.out / "documents.tsv").unlink()
    (collection.out / "documents.tsv").mkdir()
    with pytest.raises(DataError, match=r"documents\.tsv"):
        collection()


@pytest.mark.parametrize("text", ["", "[]", '{"made_by": "smooth-clir"}', '{"made_by": 1, "kind": 2, "files": [[]]}'])
def test_a_record_that_is_not_ours_makes_no_folder_ours(collection: Collection, text: str) -> None:
    collection.out.mkdir()
    (collection.out / "conversion.json").write_text(text)
    assert made_fault(str(collection.out), CONVERSION)


def test_what_a_killed_conversion_left_is_removed_by_the_next(collection: Collection) -> None:
    folder = MadeFolder(collection.out, CONVERSION)
    with folder.staging() as staging:
        (staging / "documents.tsv").write_text("half")
        # As a kill leaves it.
        shutil.copytree(collection.out, collection.folder / "killed")
    shutil.rmtree(collection.out)
    (collection.folder / "killed").rename(collection.out)
    collection()
    assert not (collection.out / ".conversion.partial").exists()
    assert len(read(collection.out).documents) == len(DOC_IDS)


# Forms


def test_equal_judgments_are_counted_and_used_once_and_another_grade_is_bad(collection: Collection) -> None:
    conversion = collection(QRELS + QRELS + "q0 0 d1 1\n", max_bad_share=0.01)
    assert collection.left_out(conversion, "judgments") == {"REPEATED": 60, "DUPLICATE_PAIR": 1}
    assert ("q0", "d1", 2) in {judgment[:3] for judgment in read(collection.out).judgments}
    file = conversion.files["judgments"]
    assert file.read == file.used + 61 == 121


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("documents", "no form\n" * 9, "id, title, text"),
        ("queries", "query_id\tfrage\nq0\tx\n", "id, title (optional), text"),
        ("qrels", "q0 d1\n" * 9, "query_id, doc_id, grade"),
        ("run", "q0 d1\n" * 9, "query_id, Q0, doc_id, rank, score, tag"),
    ],
)
def test_a_refused_file_is_told_its_form(collection: Collection, name: str, content: str, form: str) -> None:
    with pytest.raises(DataError) as error:
        collection(**{"run": "q0 Q0 d1 1 1 t\n"} | {name: content})  # type: ignore[arg-type]
    assert form in str(error.value) and "docs/formats.md" in str(error.value)
