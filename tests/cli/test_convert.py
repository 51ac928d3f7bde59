"""cli/convert.py: what the command takes, what it refuses at once, and what it says."""

import gzip
import json
import shlex
from pathlib import Path

import pytest

from pipeline.config import load_config
from tests.cli.command import Clir

QUERY_IDS = [f"q{number}" for number in range(20)]
LANGUAGES = ("--query-language", "en", "--document-language", "fr")


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """A folder in BEIR's layout: twenty queries, three documents, two splits."""
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


def singles(folder: Path) -> list[object]:
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
    assert done.err.splitlines() == [
        f"written to {out}:",
        "  candidates.tsv, config.yaml, documents.tsv, judgments.tsv, queries.tsv, conversion.json",
        "",
        "next:",
        f"  clir run {out}/config.yaml",
    ]
    config = load_config(str(out / "config.yaml"))
    assert (config.data.top_grade, config.loss.theta) == (1, (0.5,))


@pytest.mark.stages
def test_what_a_run_would_cut_is_said_before_the_written_files(clir: Clir, beir: Path, tmp_path: Path) -> None:
    long = json.dumps({"_id": "d3", "text": "text " * 300})
    documents = gzip.decompress((beir / "corpus.jsonl.gz").read_bytes()) + f"\n{long}\n".encode()
    (beir / "corpus.jsonl.gz").write_bytes(gzip.compress(documents))
    done = clir("convert", beir, *LANGUAGES, "--output", tmp_path / "out")
    warning, head, *_ = done.err.splitlines()
    assert warning.startswith(
        "warning: 25.0% of the documents are longer than data.max_document_tokens (200 words): 32.7%"
    )
    assert head == f"written to {tmp_path}/out:"
    assert json.loads((tmp_path / "out" / "conversion.json").read_text())["account"]["notes"] == [warning]


@pytest.mark.parametrize("name", ["my out", "it's", "$HOME", "a;b", "été"])
def test_the_next_command_can_be_pasted_into_a_shell(clir: Clir, beir: Path, tmp_path: Path, name: str) -> None:
    done = clir("convert", beir, *LANGUAGES, "--output", tmp_path / name)
    assert shlex.split(done.err.splitlines()[-1]) == ["clir", "run", str(tmp_path / name / "config.yaml")]


def test_machines_get_the_account_as_json(clir: Clir, beir: Path, tmp_path: Path) -> None:
    done = clir("convert", beir, *LANGUAGES, "--output", tmp_path / "out", "--json")
    answer = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert answer["lists"] == {"train": 12, "eval": 4, "test": 4}
    for file in answer["inputs"].values():
        assert file["read"] == file["used"] + sum(one["count"] for one in file["drops"])


@pytest.mark.parametrize("name", ["train", "eval", "dev", "test"])
def test_judgments_of_single_files_may_name_their_split(clir: Clir, beir: Path, tmp_path: Path, name: str) -> None:
    done = clir(*singles(beir), "--qrels", f"{name}={beir}/qrels/train.tsv", "--output", tmp_path / "out")
    assert done.code == 0
    assert f"judgments {'eval' if name == 'dev' else name}: 13 read" in done.out


def test_a_file_whose_name_holds_an_equals_sign_is_a_file(clir: Clir, beir: Path, tmp_path: Path) -> None:
    (beir / "a=b").write_text("q1 0 d1 1\n")
    done = clir(*singles(beir), "--qrels", beir / "a=b", "--output", tmp_path / "out")
    assert done.code == 0
    assert "judgments: 1 read, 1 used" in done.out


def test_a_second_conversion_replaces_the_first_and_a_third_spares_what_was_changed(
    clir: Clir, beir: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert clir("convert", beir, *LANGUAGES, "--output", out).code == 0
    single = [*singles(beir), "--qrels", beir / "qrels" / "train.tsv", "--output", out]
    assert clir(*single).code == 0
    assert not (out / "candidates.tsv").exists()
    (out / "config.yaml").write_text("mine")
    done = clir(*single)
    assert done.code == 2
    assert "config.yaml as a conversion wrote it; it was changed since" in done.err
    assert (out / "config.yaml").read_text() == "mine"


def test_a_stranger_s_folder_is_refused_before_anything_is_read(clir: Clir, beir: Path) -> None:
    before = sorted(beir.rglob("*"))
    done = clir("convert", beir, *LANGUAGES, "--output", beir)
    assert done.code == 2
    assert "--output: must be empty, or the output of an earlier conversion; it holds corpus.jsonl.gz" in done.err
    assert sorted(beir.rglob("*")) == before


def test_bad_lines_end_in_a_message_with_the_first_of_them(clir: Clir, beir: Path, tmp_path: Path) -> None:
    (beir / "queries.jsonl").write_text('{"_id": "q1"}\n')
    done = clir("convert", beir, *LANGUAGES, "--output", tmp_path / "out")
    assert (done.code, done.out) == (1, "")
    assert f"{beir}/queries.jsonl: 1 of 1 lines are bad; at most a share of 0.05 may be (--max-bad-share):" in done.err
    assert f'{beir}/queries.jsonl:1: {{"_id": "q1"}}' in done.err


def test_all_faults_are_reported_at_once(clir: Clir, beir: Path) -> None:
    done = clir(
        "convert", "--queries", beir, "--documents", beir / "none", "--qrels", f"tset={beir}/qrels/test.tsv",
        "--query-language", "eng", "--document-language", "fr", "--output", "gs://bucket/out",
    )  # fmt: skip
    assert (done.code, done.out) == (2, "")
    assert [line.removeprefix("clir: ") for line in done.err.splitlines()] == [
        "--query-language: must be an ISO 639-1 code (two letters); got 'eng'; did you mean en?",
        "--qrels: the split must be one of train, eval (or dev), test; got 'tset'; did you mean test?",
        f"must be a file; {beir} is a folder.",
        f"there is no file {beir}/none.",
        "--output: must be a local folder; got 'gs://bucket/out'.",
    ]


def test_splits_are_named_by_all_judgments_or_by_none(clir: Clir, beir: Path, tmp_path: Path) -> None:
    qrels = ["--qrels", f"train={beir}/qrels/train.tsv", "--qrels", beir / "qrels" / "test.tsv"]
    done = clir(*singles(beir), *qrels, "--output", tmp_path / "out")
    assert done.code == 2
    assert f"all must name their split, or none; {beir}/qrels/test.tsv names none" in done.err


def test_a_folder_without_judgments_or_texts_is_refused(clir: Clir, tmp_path: Path) -> None:
    done = clir("convert", tmp_path, *LANGUAGES, "--output", tmp_path / "out")
    assert done.code == 2
    assert "must hold qrels/train.tsv, qrels/dev.tsv or qrels/test.tsv" in done.err
    assert f"there is no file {tmp_path}/corpus.jsonl." in done.err


@pytest.mark.parametrize("arguments", [[], ["folder", "--queries", "q"], ["--queries", "q", "--qrels", "r"]])
def test_a_folder_or_single_files_must_be_given_and_not_both(clir: Clir, arguments: list[str]) -> None:
    done = clir("convert", *arguments, *LANGUAGES, "--output", "out")
    assert done.code == 2
    assert "--queries, --documents and --qrels" in done.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--depth", 5), "--depth says how many documents of --run count; give --run, too."),
        (
            ("--run", "queries.jsonl", "--negatives", 5),
            "--negatives are drawn where there is no --run; give one of them.",
        ),
    ],
)
def test_an_option_that_would_have_no_effect_is_refused(
    clir: Clir, beir: Path, tmp_path: Path, options: tuple[object, ...], said: str
) -> None:
    done = clir("convert", beir, *LANGUAGES, *options, "--output", tmp_path / "out")
    assert (done.code, (tmp_path / "out").exists()) == (2, False)
    assert said in done.err


def test_a_join_does_not_replace_the_files_of_a_collection_that_it_joins(
    clir: Clir, beir: Path, tmp_path: Path
) -> None:
    languages = ("--query-language", "en", "--document-language", "fr")
    for name in ("one", "two"):
        assert clir("convert", beir, *languages, "--output", tmp_path / name).code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    first, second = (f"{name}={tmp_path / name / 'config.yaml'}" for name in ("one", "two"))
    answer = clir("convert", "--join", first, "--join", second, "--output", tmp_path / "one")
    assert answer.code == 2
    assert "the output must not hold a joined collection, whose files it would replace; it holds " in answer.err
    assert {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()} == before
