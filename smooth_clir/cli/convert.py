"""`clir convert`: other layouts of queries, documents and judgments into our files and a configuration."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from pipeline import quiet
from pipeline.config import load_config
from pipeline.conversion.convert import ACCOUNT_FILE, CONVERSION, convert
from pipeline.conversion.inputs import DEPTH, MAX_BAD_SHARE, NEGATIVES, ConversionSettings, Sources
from pipeline.conversion.ir_datasets_files import find_collection, is_of_ir_datasets
from pipeline.conversion.join import join, join_faults
from pipeline.input_files import file_fault
from pipeline.layout import CONFIG_FILE
from pipeline.output_folder import made_fault, run_lock
from schemas.errors import ConfigError
from schemas.languages import LANGUAGES
from schemas.settings import did_you_mean
from schemas.splits import SPLITS
from smooth_clir.cli.arguments import json_option
from smooth_clir.cli.terminal import StageView, for_shell, program, say, short, show, show_json

_SPLIT_NAMES = {**{split: split for split in SPLITS}, "dev": "eval"}
_PACKED = ("", ".gz", ".bz2")


@click.command("convert")
@click.argument("folder", required=False, type=click.Path())
@click.option("--queries", metavar="FILE", help="Queries: id, text, in any form of docs/formats.md.")
@click.option("--documents", metavar="FILE", help="Documents: id, title, text, or id, text, likewise.")
@click.option(
    "--qrels",
    metavar="[SPLIT=]FILE",
    multiple=True,
    help="Judgments in TREC's columns or BEIR's, perhaps of a split: train, eval (or dev), test. May be repeated.",
)
@click.option(
    "--ir-dataset",
    "datasets",
    metavar="[SPLIT=]ID",
    multiple=True,
    help="Instead of files: an id of ir_datasets, perhaps for a split. May be repeated, with the same documents.",
)
@click.option("--run", metavar="FILE", help="A first stage's TREC run file: its documents become the candidates.")
@click.option(
    "--depth", default=DEPTH, show_default=True, type=click.IntRange(min=1), help="How many of each query's it gives."
)
@click.option("--query-language", metavar="CODE", help="ISO 639-1 code of the queries' language.")
@click.option("--document-language", metavar="CODE", help="ISO 639-1 code of the documents' language.")
@click.option(
    "--negatives",
    default=NEGATIVES,
    show_default=True,
    type=click.IntRange(min=1, max=2**31 - 1),
    help="NR documents drawn for each query.",
)
@click.option(
    "--top-grade", type=click.IntRange(min=1, max=100), help="Count higher grades as this.  [default: the highest]"
)
@click.option("--with-titles", is_flag=True, help="Put documents' titles before their texts: models read no titles.")
@click.option("--segmented", is_flag=True, help="The words of texts are separated already, by white space alone.")
@click.option(
    "--max-bad-share",
    default=MAX_BAD_SHARE,
    show_default=True,
    type=click.FloatRange(min=0, max=1),
    help="The share of a file's lines that may be bad.",
)
@click.option(
    "--join",
    "joined",
    metavar="NAME=CONFIG",
    multiple=True,
    help="Instead of files: a collection, as the configuration of a run, and the name of its domain. May be repeated.",
)
@click.option("--output", required=True, metavar="OUT", help="An empty folder, or an earlier conversion's.")
@json_option
def convert_command(
    folder: str | None,
    queries: str | None,
    documents: str | None,
    qrels: tuple[str, ...],
    datasets: tuple[str, ...],
    run: str | None,
    joined: tuple[str, ...],
    output: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Convert other layouts, or several collections, into files that `clir run` reads.

    FOLDER has BEIR's layout (corpus.jsonl, queries.jsonl, qrels/*.tsv); or name single files, or ids of ir_datasets; or
    join collections.

    Example: clir convert scifact --query-language en --document-language fr --output data/scifact
    """
    if joined:
        _refuse_beside_join()
        _join(joined, output, as_json)
        return
    if datasets and (folder is not None or queries or documents or qrels):
        raise click.UsageError("give --ir-dataset, or FOLDER, or --queries, --documents and --qrels.")
    faults: list[str] = []
    named = _of_splits(datasets, "--ir-dataset", faults)
    if faults:
        raise ConfigError(faults)
    found = find_collection(named) if named else None
    if found:
        given["query_language"] = given["query_language"] or found.query_language
        given["document_language"] = given["document_language"] or found.document_language
    if missing := [name for name in ("query_language", "document_language") if given[name] is None]:
        raise click.UsageError(f"Missing option '--{missing[0].replace('_', '-')}'.")
    if folder is not None and (queries or documents or qrels):
        raise click.UsageError("give FOLDER, or --queries, --documents and --qrels, but not both.")
    if not found and folder is None and not (queries and documents and qrels):
        raise click.UsageError("give FOLDER in BEIR's layout, or --queries, --documents and --qrels, or --ir-dataset.")
    _refuse_unused(run)
    settings = ConversionSettings(**given)
    codes = {"--query-language": settings.query_language, "--document-language": settings.document_language}
    faults += [
        f"{option}: must be an ISO 639-1 code (two letters); got {code!r}{did_you_mean(code, LANGUAGES)}"
        for option, code in codes.items()
        if code not in LANGUAGES
    ]
    if found:
        sources = Sources(found.queries, found.documents, found.judgments, run)
    elif folder is not None:
        sources = _beir_sources(folder, run, faults)
    else:
        sources = Sources(queries or "", documents or "", _of_splits(qrels, "--qrels", faults), run)
    paths = (path for path in sources.paths() if not is_of_ir_datasets(path))
    faults += [fault for path in paths if (fault := file_fault(path))]
    if fault := made_fault(output, CONVERSION):
        faults.append(f"--output: {fault}")
    if faults:
        raise ConfigError(faults)
    quiet.quieten(verbose=False)
    with run_lock(Path(output)):
        conversion = convert(sources, settings, Path(output))
    if as_json:
        show_json({**conversion.as_dict(), "output": output})
    else:
        languages = f"{settings.query_language} queries, {settings.document_language} documents"
        show("\n".join([languages, *conversion.describe()]))
        _say_end(conversion.notes, conversion.written, output)


def _join(joined: Sequence[str], output: str, as_json: bool) -> None:
    """Joins collections, each `NAME=CONFIG`."""
    named = [one.partition("=") for one in joined]
    faults = [
        f"--join: must be NAME=CONFIG; got {one!r}."
        for one, (name, _, path) in zip(joined, named, strict=True)
        if not (name and path)
    ]
    if len(named) < 2:
        faults.append("--join: there must be two collections or more; got one.")
    if fault := made_fault(output, CONVERSION):
        faults.append(f"--output: {fault}")
    if faults:
        raise ConfigError(faults)
    collections = [(name, load_config(path).data) for name, _, path in named]
    faults = join_faults(collections)
    inside = [path for _, data in collections for path in data.inputs().values() if _lies_in(path, output)]
    if inside:
        faults.append(
            f"the output must not hold a joined collection, whose files it would replace; it holds {inside[0]}."
        )
    if faults:
        raise ConfigError([f"--join: {fault}" for fault in faults])
    quiet.quieten(verbose=False)
    with run_lock(Path(output)), StageView() as view:
        result = join(dict(collections), Path(output), view.start)
    if as_json:
        show_json({**result.as_dict(), "output": output})
    else:
        show("\n".join(result.describe()))
        _say_end(result.notes, result.written, output)


def _lies_in(path: str, folder: str) -> bool:
    return Path(path).resolve().is_relative_to(Path(folder).resolve())


def _given() -> set[str]:
    """The parameters that the command line gives."""
    context = click.get_current_context()
    return {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}


def _refuse_beside_join() -> None:
    """Refuses options that the configurations of joined collections have."""
    if others := sorted(_given() - {"joined", "output", "as_json"}):
        raise click.UsageError(
            "--join takes collections as their configurations say, and nothing but --output and --json beside it; got "
            + ", ".join("FOLDER" if name == "folder" else _option_of(name) for name in others)
            + "."
        )


def _option_of(name: str) -> str:
    """A parameter as one writes it on the command line."""
    return next(one.opts[0] for one in click.get_current_context().command.params if one.name == name)


def _refuse_unused(run: str | None) -> None:
    """Refuses an option that has no effect beside the others."""
    given = _given()
    if run is None and "depth" in given:
        raise click.UsageError("--depth says how many documents of --run count; give --run, too.")
    if run is not None and "negatives" in given:
        raise click.UsageError("--negatives are drawn where there is no --run; give one of them.")


def _say_end(notes: Sequence[str], written: Sequence[str], output: str) -> None:
    """Prints notes, the written files and the next command."""
    shown = short(output)
    lines = [*notes, f"written to {shown}:", f"  {', '.join([*written, ACCOUNT_FILE])}"]
    say("\n".join([*lines, "", "next:", f"  {program()} run {for_shell(os.path.join(output, CONFIG_FILE))}"]))


def _beir_sources(folder: str, run: str | None, faults: list[str]) -> Sources:
    """The files of a folder in BEIR's layout; adds a fault where judgments are missing."""
    texts = []
    for name in ("queries.jsonl", "corpus.jsonl"):
        found = [path for packed in _PACKED if os.path.exists(path := os.path.join(folder, name + packed))]
        # A missing one is reported as any missing file is.
        texts.append(found[0] if found else os.path.join(folder, name))
    judgments = []
    for name in ("train", "dev", "eval", "test"):
        path = os.path.join(folder, "qrels", f"{name}.tsv")
        if os.path.exists(path):
            judgments.append((_SPLIT_NAMES[name], path))
    if not judgments:
        faults.append(f"{folder} must hold qrels/train.tsv, qrels/dev.tsv or qrels/test.tsv; it holds none of them.")
    return Sources(texts[0], texts[1], tuple(judgments), run)


def _of_splits(values: Sequence[str], option: str, faults: list[str]) -> tuple[tuple[str, str], ...]:
    """(split, path or id) of each value of an option; the split is empty where none is named."""
    judgments = []
    for value in values:
        name, equals, path = value.partition("=")
        is_named = bool(equals) and (name in _SPLIT_NAMES or not os.path.exists(value))
        if is_named and name not in _SPLIT_NAMES:
            hint = did_you_mean(name, _SPLIT_NAMES)
            faults.append(f"{option}: the split must be one of train, eval (or dev), test; got {name!r}{hint}")
        else:
            judgments.append((_SPLIT_NAMES[name], path) if is_named else ("", value))
    if len({bool(split) for split, _ in judgments}) > 1:
        unnamed = next(path for split, path in judgments if not split)
        faults.append(f"{option}: all must name their split, or none; {unnamed} names none.")
    return tuple(judgments)
