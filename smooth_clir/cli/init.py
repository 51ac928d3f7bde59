"""`clir init`: writes a configuration, from answers or options."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import click
import yaml

from components.wikiclir_example_gen.settings import DataSettings
from pipeline import quiet
from pipeline.config_file import load_config
from pipeline.config_schema import SCHEMA_FILE, config_schema, is_config_schema
from pipeline.conversion.convert import CONVERSION, convert
from pipeline.conversion.inputs import ConversionSettings, Sources, settings_faults
from pipeline.input_files import file_fault, files_of, is_remote
from pipeline.made_folder import made_fault
from pipeline.output_folder import run_lock, write_atomically
from pipeline.output_path import name_fault
from schemas.errors import ConfigError, DataError
from schemas.record_files import parse_judgments
from schemas.relevance import MAX_GRADE
from schemas.wikiclir import Judgment
from smooth_clir.cli.answers import Answers
from smooth_clir.cli.arguments import columns_option
from smooth_clir.cli.run import estimate_of
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


@click.command("init")
@click.argument("config", default="config.yaml", type=click.Path())
@click.option("--queries", metavar="FILE", help="The queries: id, text, perhaps a title; see docs/formats.md.")
@click.option("--documents", metavar="FILE", help="The documents, likewise.")
@click.option("--judgments", metavar="FILE", help="The judgments: query_id, doc_id, grade.")
@click.option("--query-language", metavar="CODE", help="ISO 639-1 code of the queries' language.")
@click.option("--document-language", metavar="CODE", help="ISO 639-1 code of the documents' language.")
@columns_option
@click.option(
    "--output", metavar="FOLDER", help="Folder of everything a run writes; default: runs/ and the name of CONFIG."
)
@click.option("--example", is_flag=True, help="Use the bundled sample, whose files are copied beside CONFIG.")
def init(config: str, columns: tuple[str, ...], output: str | None, example: bool, **options: str | None) -> None:
    """Write a commented configuration, CONFIG (config.yaml), for your files; ask for missing options.

    Each file is looked at when it is named. Files with columns of other names are converted, into a folder beside
    CONFIG. The schema of configurations is written there, too; editors use it to complete and check CONFIG. At the end
    stands an estimate of the first run.

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
    if example and (columns or any(options.values())):
        raise click.UsageError("--example sets the files and languages; give it without these options.")
    answers = Answers(config, columns, output)
    with answers.kept():
        if example:
            values = {**_copy_example(folder), "query_language": "en", "document_language": "fr"}
        else:
            values = answers.take(options)
            if answers.columns:
                values |= _converted(path, values, answers.columns)
            for role in EXAMPLE:
                values[role] = _relative_to(folder, values[role])
        folder.mkdir(parents=True, exist_ok=True)
        values["top_grade"] = str(_highest_grade(folder, values["judgments"]))
        values["output"] = _relative_to(folder, os.path.expanduser(output or f"runs/{path.stem}"))
        scalars = {key: _scalar(value) for key, value in values.items()}
        text = _TEMPLATE.format(schema=SCHEMA_FILE, name=for_shell(config), **scalars)
        _check(path, text)
        write_atomically(schema, config_schema())
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:  # another process made it meanwhile
            raise click.UsageError(_not_new(config)) from None
    show(short(config))
    try:
        say("\n".join(["a first run:", *(f"  {line}" for line in estimate_of(load_config(config)).describe())]))
    except (ConfigError, DataError) as error:
        say(f"no estimate of a run: {error}")
    say(f"next:\n  {program()} run {for_shell(config)}")


def _converted(path: Path, answers: Mapping[str, str], columns: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Converts files with columns of other names, into a folder beside the configuration.

    Returns:
      the path of each role's converted file.

    Raises:
      ConfigError: a name is no column, or a path no single file of this machine: all faults.
      DataError: see `convert`.
    """
    output = path.with_name(f"{path.stem}_files")
    paths = [answers[role] for role in EXAMPLE]
    own = ConversionSettings(answers["query_language"], answers["document_language"], columns=columns)
    fault = made_fault(str(output), CONVERSION)
    faults = [*([f"{output} {fault}"] if fault else []), *filter(None, map(file_fault, paths))]
    if faults := faults or [f"--{name}: {fault}" for name, fault in settings_faults(own, paths)]:
        raise ConfigError(faults)
    queries, documents, judgments = paths
    quiet.quieten(verbose=False)
    with run_lock(output):
        conversion = convert(Sources(queries, documents, (("", judgments),)), own, output)
    say("\n".join([f"converted into {short(str(output))}:", *conversion.describe(), *conversion.notes]))
    return {role: str(output / f"{role}.tsv") for role in EXAMPLE}


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
