"""`clir init`: writes a configuration, from answers or options."""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
import yaml

from components.wikiclir_example_gen.settings import DataSettings
from pipeline.config_file import load_config
from pipeline.config_schema import SCHEMA_FILE, config_schema, is_config_schema
from pipeline.input_files import files_of, is_remote
from pipeline.output_folder import write_atomically
from pipeline.output_path import name_fault
from schemas.errors import ConfigError
from schemas.languages import LANGUAGES
from schemas.record_files import parse_judgments
from schemas.relevance import MAX_GRADE
from schemas.settings import did_you_mean
from schemas.wikiclir import Judgment
from smooth_clir.cli.terminal import for_shell, program, say, short, show

EXAMPLE: Final = {"queries": "wiki_en.queries", "documents": "wiki_fr.documents", "judgments": "en2fr.rel"}
"""The files of the bundled sample, by their roles."""

_TEMPLATE: Final = """\
# yaml-language-server: $schema={schema}
# clir run {name}             trains, evaluates and pushes a model
# clir run {name} --estimate  estimates the steps, the memory and the disk of a run
# An editor that knows the schema of the first line explains every setting, as docs/settings.md does.
preset: best  # closed, where all documents are known when training; paper, the paper's system
data:
  queries: {queries}  # id, text and perhaps a title: TSV, CSV or JSON, see docs/formats.md
  documents: {documents}  # likewise
  judgments: {judgments}  # query id, document id and grade
  top_grade: {top_grade}  # the grade of the most relevant documents; each query needs such a document
  query_language: {query_language}
  document_language: {document_language}
  # cold_share: 0.2  # measures on documents that training has not seen, too
# evaluation:
#   baselines: [bm25, paper]  # trains the paper's system beside the model
search:
  index: true  # for clir search and clir serve
output: {output}
"""


def _check_file(answer: str) -> str:
    """Returns the path of an existing file, or a pattern of files; `~` is the home folder, as in a configuration."""
    path = os.path.expanduser(answer)
    if not is_remote(path) and not all(os.path.isfile(file) for file in files_of(path) or [path]):
        raise click.BadParameter(f"must be a file, or a pattern of files; {answer!r} does not exist.")
    return path


def _check_language(answer: str) -> str:
    """Returns the code of a known language."""
    if answer not in LANGUAGES:
        hint = did_you_mean(answer, LANGUAGES)
        raise click.BadParameter(f"must be an ISO 639-1 code, such as en; got {answer!r}{hint}")
    return answer


_QUESTIONS: Final[dict[str, tuple[str, Callable[[str], str]]]] = {
    "queries": ("File of the queries (id, title, text)", _check_file),
    "documents": ("File of the documents (id, title, text)", _check_file),
    "judgments": ("File of the judgments (query_id, doc_id, grade)", _check_file),
    "query_language": ("Language of the queries, such as en", _check_language),
    "document_language": ("Language of the documents", _check_language),
}


@click.command("init")
@click.argument("config", default="config.yaml", type=click.Path())
@click.option("--queries", metavar="FILE", help="The queries: id, text, perhaps a title; see docs/formats.md.")
@click.option("--documents", metavar="FILE", help="The documents, likewise.")
@click.option("--judgments", metavar="FILE", help="The judgments: query_id, doc_id, grade.")
@click.option("--query-language", metavar="CODE", help="ISO 639-1 code of the queries' language.")
@click.option("--document-language", metavar="CODE", help="ISO 639-1 code of the documents' language.")
@click.option(
    "--output", metavar="FOLDER", help="Folder of everything a run writes; default: runs/ and the name of CONFIG."
)
@click.option("--example", is_flag=True, help="Use the bundled sample, whose files are copied beside CONFIG.")
def init(config: str, output: str | None, example: bool, **options: str | None) -> None:
    """Write a commented configuration, CONFIG (config.yaml), for your files; ask for missing options.

    CONFIG is written after its files have been checked. The schema of configurations is written beside it; editors use
    it to complete and check CONFIG.

    Example: clir init --example
    """
    if not config.isprintable():  # it is part of comments in the file
        raise click.UsageError(f"CONFIG must be printable; got {config!a}.")
    if fault := name_fault(config, "file"):
        raise click.UsageError(f"CONFIG {fault}")
    if output == "":
        raise click.UsageError("--output must be a folder; got ''.")
    path = Path(config)
    if os.path.lexists(path):
        raise click.UsageError(_not_new(config))
    folder = path.parent
    schema = folder / SCHEMA_FILE
    if os.path.lexists(schema) and not is_config_schema(schema):
        raise click.UsageError(f"{schema} already exists, and clir init did not write it.")
    if example:
        if any(options.values()):
            raise click.UsageError("--example sets the files and languages; give it without these options.")
        answers = {**_copy_example(folder), "query_language": "en", "document_language": "fr"}
    else:
        if faults := [fault for name, value in options.items() if (fault := _option_fault(name, value))]:
            raise ConfigError(faults)
        answers = {name: _ask(name) if value is None else _QUESTIONS[name][1](value) for name, value in options.items()}
        for role in EXAMPLE:
            answers[role] = _relative_to(folder, answers[role])
    folder.mkdir(parents=True, exist_ok=True)
    answers["top_grade"] = str(_highest_grade(folder, answers["judgments"]))
    answers["output"] = _relative_to(folder, os.path.expanduser(output or f"runs/{path.stem}"))
    scalars = {key: _scalar(value) for key, value in answers.items()}
    text = _TEMPLATE.format(schema=SCHEMA_FILE, name=for_shell(config), **scalars)
    _check(path, text)
    write_atomically(schema, config_schema())
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:  # another process made it meanwhile
        raise click.UsageError(_not_new(config)) from None
    show(short(config))
    say(f"next:\n  {program()} run {for_shell(config)}")


def _highest_grade(folder: Path, judgments: str) -> int:
    """Returns the highest grade in files of judgments; the default of `data.top_grade` for remote or empty files."""
    path = judgments if is_remote(judgments) else os.path.join(folder, judgments)
    highest = 0
    for file in [] if is_remote(path) else files_of(path):
        with open(file, "rb") as stream:
            records = parse_judgments(stream, file, range(MAX_GRADE + 1))
            grades = (record.grade for record in records if isinstance(record, Judgment))
            highest = max(highest, max(grades, default=0))
    return highest or DataSettings.model_fields["top_grade"].default


def _not_new(config: str) -> str:
    return f"CONFIG must be a new file; {config} exists."


def _relative_to(folder: Path, path: str) -> str:
    """Returns a path relative to a folder; keeps a path with a scheme.

    Links to folders are followed, as in `clir run`: `..` leads out of the folder behind a link.
    """
    if "://" in path:
        return path
    parent, name = os.path.split(path)
    seen = os.path.relpath(os.path.join(os.path.realpath(parent), name), os.path.realpath(folder))
    return os.path.join(".", seen) if seen.startswith("~") else seen


def _scalar(value: str) -> str:
    """Returns a text in YAML, on a line."""
    style = None if value.isprintable() else '"'
    return yaml.safe_dump(value, width=1 << 20, default_style=style).splitlines()[0]


def _option_fault(name: str, value: str | None) -> str | None:
    """Returns the fault of an option, or None. A missing option is an error if stdin is not a terminal."""
    option = f"--{name.replace('_', '-')}"
    if value is None:
        return None if sys.stdin.isatty() else f"{option} is missing, and stdin is no terminal; or give --example."
    try:
        _QUESTIONS[name][1](value)
    except click.BadParameter as error:
        return f"{option}: {error.message}"
    return None


def _ask(name: str) -> str:
    """Asks a question until the answer is valid."""
    question, check = _QUESTIONS[name]
    try:
        answer: str = click.prompt(question, value_proc=check, err=True)
    except click.Abort:  # Ctrl-C or Ctrl-D
        raise KeyboardInterrupt from None
    return answer


def _check(path: Path, text: str) -> None:
    """Checks a configuration before it is written, and the files that it names.

    Raises:
      ConfigError: the configuration has faults: all of them, each with its line.
    """
    # In the same folder, because its paths are relative.
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".", suffix=".yaml", encoding="utf-8") as draft:
        draft.write(text)
        draft.flush()
        try:
            load_config(draft.name)
        except ConfigError as error:
            faults = [fault.replace(draft.name, str(path)) for fault in error.faults]
            raise ConfigError(faults) from None


def _copy_example(folder: Path) -> dict[str, str]:
    """Copies the bundled sample into a folder beside the configuration.

    Raises:
      UsageError: another file has the name of one of its files.
    """
    root = Path(__file__).parents[2]
    # The sample's folder in a checkout, and in an installed package.
    source = next(path for path in (root / "data" / "sample", root / "smooth_clir" / "sample") if path.is_dir())
    target = folder / "sample"
    contents = {name: (source / name).read_bytes() for name in EXAMPLE.values()}
    for name, content in contents.items():
        copy = target / name
        if os.path.lexists(copy) and not (copy.is_file() and copy.read_bytes() == content):
            raise click.UsageError(f"{copy} already exists, and is not the sample's file.")
    target.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write_atomically(target / name, content)
    return {role: f"sample/{name}" for role, name in EXAMPLE.items()}
