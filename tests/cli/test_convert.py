"""cli/convert.py: what the command takes, what it refuses at once, and what it says."""

import gzip
import json
import shlex
from pathlib import Path

import pytest

from models.translators.command import ALLOWED
from pipeline.config_file import load_config
from tests.cli.command import Clir
from tests.models.translators.small_translator import UPPER, program

QUERY_IDS = [f"q{number}" for number in range(20)]
LANGUAGES = ("--query-language", "en", "--document-language", "fr")


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """A folder in BEIR's layout: twenty queries, three documents, three splits."""
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    documents = [{"_id": f"d{number}", "title": "", "text": f"text {number}"} for number in range(3)]
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, documents)).encode()))
    queries = [{"_id": query_id, "text": f"query {query_id}"} for query_id in QUERY_IDS]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    for split, query_ids in (("train", QUERY_IDS[:12]), ("dev", QUERY_IDS[12:16]), ("test", QUERY_IDS[16:])):
        lines = ["query-id\tcorpus-id\tscore", *(f"{query_id}\td1\t1" for query_id in query_ids)]
        (folder / "qrels" / f"{split}.tsv").write_text("\n".join(lines))
    return folder


def single_files(folder: Path) -> list[object]:
    return ["convert", "--queries", folder / "queries.jsonl", "--documents", folder / "corpus.jsonl.gz", *LANGUAGES]


def test_a_beir_folder_is_converted_and_the_next_command_is_named(clir: Clir, beir: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = clir("convert", beir, *LANGUAGES, "--output", out)
    assert done.code == 0
    assert done.out.splitlines() == [
        "en queries, fr documents",
        "queries: 20 read, 20 used",
        "documents: 3 read, 3 used",
        "judgments train: 13 read, 12 used; left out: 1 header",
        "judgments eval: 5 read, 4 used; left out: 1 header",
        "judgments test: 5 read, 4 used; left out: 1 header",
        "query lists: 12 train, 4 eval, 4 test; 60 query-document pairs",
        "grades: 0 .. 1",
    ]
    assert done.err.splitlines()[0] == f"written to {out}:"
    config = load_config(str(out / "config.yaml"))
    assert (config.data.top_grade, config.loss.theta) == (1, (0.2, 0.7))


def test_documents_in_several_languages_keep_the_language_of_each(clir: Clir, beir: Path, tmp_path: Path) -> None:
    documents = [{"_id": f"d{n}", "text": f"text {n}", "Sprache": code} for n, code in enumerate(("fr", "de", "es"))]
    corpus = beir / "corpus.jsonl.gz"
    corpus.write_bytes(gzip.compress("\n".join(map(json.dumps, documents)).encode()))
    out = tmp_path / "out"
    languages = ("--query-language", "en", "--document-language", "fr+de", "--columns", "lang=Sprache")
    done = clir("convert", beir, *languages, "--max-bad-share", "0.5", "--output", out)
    assert done.code == 0, done.err
    assert "en queries, de+fr documents" in done.out
    assert "1 `lang` is missing, or none" in done.out
    assert (out / "documents.tsv").read_text() == "id\ttitle\ttext\tlang\nd0\t\ttext 0\tfr\nd1\t\ttext 1\tde\n"
    assert load_config(str(out / "config.yaml")).data.languages == ("en", "de+fr")


def test_pairs_have_a_single_language_on_each_side(clir: Clir, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("wolf\tloup\ndog\tchien\n")
    languages = ("--query-language", "en", "--document-language", "fr+de")
    done = clir("convert", "--pairs", pairs, *languages, "--output", tmp_path / "out")
    assert done.code == 2 and "--document-language: must be a single language" in done.err


@pytest.mark.stages
def test_a_cut_that_a_run_would_make_is_reported_before_the_written_files(
    clir: Clir, beir: Path, tmp_path: Path
) -> None:
    long = json.dumps({"_id": "d3", "text": "text " * 300})
    documents = gzip.decompress((beir / "corpus.jsonl.gz").read_bytes()) + f"\n{long}\n".encode()
    (beir / "corpus.jsonl.gz").write_bytes(gzip.compress(documents))
    done = clir("convert", beir, *LANGUAGES, "--output", tmp_path / "out")
    warning, head, *_ = done.err.splitlines()
    assert all(part in warning for part in ("25.0%", "data.max_document_tokens (200 words)", "32.7%"))
    assert head == f"written to {tmp_path}/out:"
    assert json.loads((tmp_path / "out" / "conversion.json").read_text())["account"]["notes"] == [warning]


@pytest.mark.parametrize("name", ["my out", "it's", "$HOME", "a;b", "été"])
def test_the_next_command_can_be_pasted_into_a_shell(clir: Clir, beir: Path, tmp_path: Path, name: str) -> None:
    done = clir("convert", beir, *LANGUAGES, "--output", tmp_path / name)
    called, *arguments = shlex.split(done.err.splitlines()[-1])
    assert (Path(called).name, arguments) == ("clir", ["run", str(tmp_path / name / "config.yaml")])


def test_machines_get_the_account_as_json(clir: Clir, beir: Path, tmp_path: Path) -> None:
    done = clir("convert", beir, *LANGUAGES, "--output", tmp_path / "out", "--json")
    answer = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert answer["lists"] == {"train": 12, "eval": 4, "test": 4}
    for file in answer["inputs"].values():
        assert file["read"] == file["used"] + sum(drop["count"] for drop in file["drops"])


@pytest.mark.parametrize(
    ("qrels", "reported"),
    [
        ("train={}/qrels/train.tsv", "judgments train: 13 read"),
        ("dev={}/qrels/train.tsv", "judgments eval: 13 read"),
        ("{}/a=b", "judgments: 1 read, 1 used"),  # an equals sign of the file's name
    ],
)
def test_judgments_of_single_files_may_name_their_split(
    clir: Clir, beir: Path, tmp_path: Path, qrels: str, reported: str
) -> None:
    (beir / "a=b").write_text("q1 0 d1 1\n")
    done = clir(*single_files(beir), "--qrels", qrels.format(beir), "--output", tmp_path / "out")
    assert done.code == 0
    assert reported in done.out


def test_a_second_conversion_replaces_the_first_and_a_third_spares_a_changed_file(
    clir: Clir, beir: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert clir("convert", beir, *LANGUAGES, "--output", out).code == 0
    single = [*single_files(beir), "--qrels", beir / "qrels" / "train.tsv", "--output", out]
    assert clir(*single).code == 0
    assert not (out / "candidates.tsv").exists()
    (out / "config.yaml").write_text("mine")
    done = clir(*single)
    assert (done.code, "config.yaml" in done.err) == (2, True)
    assert (out / "config.yaml").read_text() == "mine"


def test_bad_lines_end_in_a_message_with_the_first_of_them(clir: Clir, beir: Path, tmp_path: Path) -> None:
    (beir / "queries.jsonl").write_text('{"_id": "q1"}\n')
    done = clir("convert", beir, *LANGUAGES, "--output", tmp_path / "out")
    assert (done.code, done.out) == (1, "")
    assert "--max-bad-share" in done.err
    assert f'{beir}/queries.jsonl:1: {{"_id": "q1"}}' in done.err


DOCUMENTS = ("--documents", "{beir}/corpus.jsonl.gz", "--queries-from", "sentences")
SPLITS = ("--queries", "{beir}/queries.jsonl", "--documents", "{beir}/corpus.jsonl.gz", "--qrels", "{qrels}/test.tsv")


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (("{beir}", *LANGUAGES, "--output", "{beir}"), ["--output", "corpus.jsonl.gz"]),  # somebody's folder
        ((*SPLITS, "--qrels", "train={qrels}/train.tsv", *LANGUAGES), ["{qrels}/test.tsv"]),
        (("{qrels}", *LANGUAGES), ["qrels/train.tsv", "{qrels}/corpus.jsonl"]),
        (LANGUAGES, ["--queries, --documents and --qrels"]),
        (("folder", "--queries", "q", *LANGUAGES), ["FOLDER", "--queries"]),
        (("--queries", "q", "--qrels", "r", *LANGUAGES), ["--queries, --documents and --qrels"]),
        (("--queries-from", "titles", "--queries", "q", *LANGUAGES), ["--queries-from", "--queries."]),
        ((*DOCUMENTS, *LANGUAGES), ["--translator", "in fr", "in en", "--query-language fr"]),
        ((*DOCUMENTS, *LANGUAGES, "--query-language", "fr", "--translator", "echo"), ["--translator", "both in fr"]),
        ((*DOCUMENTS, *LANGUAGES, "--translator", "{{kind: command}}"), ["--translator: command: must be given"]),
        ((*DOCUMENTS, *LANGUAGES, "--translator", "echo 'a"), ["--translator", "quotation"]),
        ((*DOCUMENTS, *LANGUAGES, "--translator", "[["), ["--translator", "YAML"]),
        ((*DOCUMENTS, *LANGUAGES, "--translator", "[]"), ["--translator", "must name a program"]),
        (("{beir}", *LANGUAGES, "--depth", "5"), ["--depth", "--run"]),  # without effect
        (("{beir}", *LANGUAGES, "--run", "queries.jsonl", "--negatives", "5"), ["--negatives", "--run"]),
        (
            (
                "--queries", "{beir}", "--documents", "{beir}/none", "--qrels", "tset={qrels}/test.tsv",
                "--query-language", "eng", "--document-language", "fr", "--output", "gs://bucket/out",
            ),
            ["'eng'; did you mean en?", "'tset'; did you mean test?", "{beir} is", "{beir}/none", "'gs://bucket/out'"],
        ),
    ],
)  # fmt: skip
def test_bad_options_are_refused_all_at_once_and_nothing_is_written(
    clir: Clir, beir: Path, tmp_path: Path, arguments: tuple[str, ...], reported: list[str]
) -> None:
    paths = {"beir": beir, "qrels": beir / "qrels"}
    before = sorted(tmp_path.rglob("*"))
    done = clir("convert", "--output", tmp_path / "out", *(argument.format(**paths) for argument in arguments))
    assert (done.code, done.out) == (2, "")
    assert all(words.format(**paths) in done.err for words in reported)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_join_does_not_replace_the_files_of_a_collection_that_it_joins(
    clir: Clir, beir: Path, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        assert clir("convert", beir, *LANGUAGES, "--output", tmp_path / name).code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    first, second = (f"{name}={tmp_path / name / 'config.yaml'}" for name in ("one", "two"))
    answer = clir("convert", "--join", first, "--join", second, "--output", tmp_path / "one")
    assert (answer.code, "output" in answer.err) == (2, True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()} == before


def test_pairs_in_columns_of_other_names_become_a_collection(clir: Clir, tmp_path: Path) -> None:
    pairs, out = tmp_path / "pairs.csv", tmp_path / "out"
    pairs.write_text("Frage,Antwort\na wolf,un loup\nthe sun,le soleil\nthe moon,la lune\n")
    columns = ("--columns", "query=Frage", "--columns", "document=antwort")
    done = clir("convert", "--pairs", pairs, *columns, *LANGUAGES, "--output", out)
    assert done.code == 0
    assert done.out.splitlines()[:2] == [
        "en queries, fr documents",
        "pairs: 4 read, 3 used; left out: 1 header",
    ]
    assert (out / "documents.tsv").read_text() == "2\t\tun loup\n3\t\tle soleil\n4\t\tla lune\n"


def test_two_files_of_pairs_are_aligned_and_three_are_refused(clir: Clir, tmp_path: Path) -> None:
    for name, text in {"en": "a wolf\nthe sun\n", "fr": "un loup\nle soleil\n"}.items():
        (tmp_path / name).write_text(text)
    files = ("--pairs", tmp_path / "en", "--pairs", tmp_path / "fr")
    done = clir("convert", *files, *LANGUAGES, "--output", tmp_path / "out")
    assert (done.code, done.out.splitlines()[1]) == (0, "pairs: 2 read, 2 used")
    refused = clir("convert", *files, "--pairs", tmp_path / "fr", *LANGUAGES, "--output", tmp_path / "other")
    assert refused.code == 2
    assert refused.err == "clir: --pairs: must be a file of pairs, or two aligned files; got 3 files.\n"


def test_judgments_on_a_scale_become_grades(clir: Clir, beir: Path, tmp_path: Path) -> None:
    stars = tmp_path / "stars.csv"
    stars.write_text("query-id,corpus-id,stars\nq1,d1,4.5\nq1,d2,3\nq2,d1,0.5\nq2,d2,5\n")
    arguments = (*single_files(beir), "--qrels", stars, "--columns", "grade=stars", "--output", tmp_path / "out")
    assert clir(*arguments, "--scale", "2,4").code == 0
    judgments = (tmp_path / "out" / "judgments.tsv").read_text().splitlines()
    assert judgments == ["q1\td1\t2", "q1\td2\t1", "q2\td1\t0", "q2\td2\t2"]


@pytest.mark.parametrize(
    ("option", "value", "fault"),
    [
        ("--scale", "4,2", "--scale: must be ascending numbers; got 4.0, 2.0."),
        (
            "--scale",
            "high",
            "--scale: must be ascending numbers with commas between them, such as 0.5,0.8; got 'high'.",
        ),
        ("--columns", "grade=stas", "--columns: no file has a column 'stas' in its first lines."),
        ("--columns", "grad=stars", "got 'grad'; did you mean grade?"),
    ],
)
def test_a_wrong_scale_or_column_is_refused(
    clir: Clir, beir: Path, tmp_path: Path, option: str, value: str, fault: str
) -> None:
    done = clir(
        *single_files(beir), "--qrels", beir / "qrels" / "train.tsv", "--output", tmp_path / "out", option, value
    )
    assert done.code == 2
    assert fault in done.err
    assert not (tmp_path / "out" / "queries.tsv").exists()


@pytest.mark.tensors
def test_documents_alone_become_a_collection_whose_figures_are_explained(
    clir: Clir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ALLOWED, "")
    documents, out = tmp_path / "my documents.csv", tmp_path / "out"
    documents.write_text("id,headline,text\na,Loup,Il dort.\nb,Lynx,Il boit.\nc,,Il court.\n")
    options = ("--documents", documents, "--queries-from", "titles", "--columns", "title=headline", "--output", out)
    done = clir("convert", *options, *LANGUAGES, "--translator", shlex.join(program(UPPER)), "--allow-commands")
    assert (done.code, done.out.splitlines()[1]) == (
        0, "documents: 4 read, 2 used; left out: 1 document without a title; 1 header",
    )  # fmt: skip
    assert (out / "queries.tsv").read_text() == "a\t\tLOUP\nb\t\tLYNX\n"
    note, *_ = json.loads((out / "conversion.json").read_text())["account"]["notes"]
    assert "its own title in the translation of" in note and note in done.err.replace("\n", " ")
    *_, run, index = map(shlex.split, done.err.splitlines())
    assert run[1:] == ["run", str(out / "config.yaml"), "--allow-commands"]
    assert index[1:] == ["index", str(out / "run"), "--documents", str(documents)]
