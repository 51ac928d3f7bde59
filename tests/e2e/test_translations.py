"""Runs with a translator: which sentences it translates when, and that it is not started unasked."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from models.translators.translator import probe_of
from smooth_clir.wikipedia.wikitext.sentences import split_sentences
from tests.e2e import forked
from tests.e2e.forked import Kill
from tests.e2e.process import SAMPLE
from tests.models.translators.small_translator import program

pytestmark = pytest.mark.long


class Runs:
    """Runs with a program that translates into capitals, into one output folder.

    Attributes:
      folder: holds the output, the files of the sample, which are copies, and all that the runs wrote.
      sentences: the sentences that the program got in each run, without the probe.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.output = folder, folder / "out"
        shutil.copytree(SAMPLE, folder / "data", ignore=shutil.ignore_patterns("*.bz2", "*.gz"))
        self.documents = folder / "data" / "wiki_fr.documents"
        self.sentences: list[list[str]] = []

    def run(self, *options: str, kill: Kill | None = None) -> tuple[int, str]:
        """Runs; returns the exit code and what the run said."""
        files = {"queries": "wiki_en.queries", "documents": "wiki_fr.documents", "judgments": "en2fr.rel"}
        log = self.folder / f"log{len(self.sentences)}"
        code = f"text = sys.stdin.read(); open({str(self.folder / 'got')!r}, 'a').write(text); "
        translator = {"kind": "command", "command": program(f"{code}sys.stdout.write(text.upper())")}
        overrides = (
            *("evaluation.baselines=[]", "evaluation.minimums={}", "training.epochs=2", f"output={self.output}"),
            *(f"data.{role}={self.folder / 'data' / name}" for role, name in files.items()),
            *("channels.encoder=null", f"channels.lexicon.translator={json.dumps(translator)}"),
        )
        arguments = ("run", "configs/sample.yaml", *(f"--set={override}" for override in overrides), *options)
        (self.folder / "got").write_text("")
        exit_code = forked.clir(*arguments, log=log, kill=kill)
        texts = (self.folder / "got").read_text(encoding="utf-8").split("\n\n")
        self.sentences.append([text for text in texts if text not in ("", probe_of("fr"))])
        return exit_code, log.read_text()

    def all_sentences(self) -> list[str]:
        """Every distinct sentence of the documents, in their order."""
        lines = self.documents.read_text(encoding="utf-8").splitlines()
        texts = [line.split("\t")[2] for line in lines]
        return [*dict.fromkeys(sentence for text in texts for sentence in split_sentences(text, "fr"))]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """A run that is not allowed, a killed one, the same to its end, and one with a document more."""
    runs = Runs(tmp_path_factory.mktemp("translations"))
    code, said = runs.run()
    assert code == 1 and "--allow-commands" in said
    assert runs.run("--allow-commands", kill=Kill("TranslationGen"))[0] == -9
    code, said = runs.run("--allow-commands")
    assert code == 0, said
    content = runs.documents.read_text(encoding="utf-8")
    runs.documents.write_text(f"{content}new\tNouveau\tUn document tout nouveau est là.\n", encoding="utf-8")
    assert runs.run("--allow-commands", kill=Kill("TranslationGen"))[0] == -9
    yield runs


def test_each_sentence_is_translated_once_whatever_ends_a_run_and_only_after_permission(runs: Runs) -> None:
    *sentences, new = runs.all_sentences()
    assert runs.sentences == [[], sentences, [], [new]]


def test_the_lexicon_learns_from_the_translation_of_each_sentence(runs: Runs) -> None:
    *sentences, _ = runs.all_sentences()
    expected = "".join(f"{' '.join(sentence.upper().split())}\t{sentence}\n" for sentence in sentences)
    files = (runs.output / "artifacts" / "TranslationGen" / "translations").glob("*/translations.tsv")
    assert expected in {file.read_text(encoding="utf-8") for file in files}
    report = json.loads((runs.output / "lexicon" / "report.json").read_text())
    assert report["pairs"]["used"] == len(sentences)


def test_the_resolved_configuration_has_the_translator_s_probe(runs: Runs) -> None:
    assert f"probe: {probe_of('fr').upper()}" in " ".join((runs.output / "config.yaml").read_text("utf-8").split())
