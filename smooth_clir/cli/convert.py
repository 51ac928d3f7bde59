"""`clir convert`: converts other layouts of queries, documents and judgments into our files and a configuration."""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import click
import pydantic
from click.core import ParameterSource

from models.translators.settings import TranslatorSettings
from pipeline import quiet
from pipeline.config_file import load_config
from pipeline.conversion.convert import ACCOUNT_FILE, CONVERSION, RUN_FOLDER, Conversion, convert
from pipeline.conversion.inputs import DEPTH, MAX_BAD_SHARE, NEGATIVES, ConversionSettings, Sources, settings_faults
from pipeline.conversion.ir_datasets_files import Collection, find_collection, is_of_ir_datasets
from pipeline.conversion.join import Joined, join, join_faults
from pipeline.conversion.pairs import convert_pairs
from pipeline.input_files import file_fault
from pipeline.layout import CONFIG_FILE
from pipeline.made_folder import made_fault
from pipeline.output_folder import run_lock
from pipeline.settings_file import NotYamlError, describe_fault, load_yaml
from schemas.errors import ConfigError
from schemas.languages import codes_of, joined_codes
from schemas.settings import did_you_mean
from schemas.splits import SPLITS
from smooth_clir.cli.arguments import allow_commands_option, column_names, columns_option, json_option
from smooth_clir.cli.imports import check_extra, heavy_imports
from smooth_clir.cli.terminal import StageView, for_shell, program, say, short, show, show_json

_SPLIT_NAMES = {**{split: split for split in SPLITS}, "dev": "eval"}
_PACKED = ("", ".gz", ".bz2")
_Find: TypeAlias = Callable[[Mapping[str, Any], list[str]], Collection]
"""Finds the files that the values of the command line name; adds their faults to a list."""
_Convert: TypeAlias = Callable[[Mapping[str, Any], str, list[str]], tuple[str, Conversion | Joined]]
"""Converts what the values of the command line name, into the output; returns a heading and the result."""


@click.command("convert")
@click.argument("folder", required=False, type=click.Path())
@click.option("--queries", metavar="FILE", help="Queries: id, text, in any form of docs/formats.md.")
@click.option("--documents", metavar="FILE", help="Documents: id, title, text, or id, text, likewise.")
@click.option(
    "--qrels",
    metavar="[SPLIT=]FILE",
    multiple=True,
    help="Judgments in TREC's or BEIR's columns; SPLIT is train, eval (or dev) or test. Repeatable.",
)
@click.option(
    "--ir-dataset",
    "datasets",
    metavar="[SPLIT=]ID",
    multiple=True,
    help="Instead of files: an id of ir_datasets. Repeatable, with the same documents.",
)
@click.option(
    "--pairs",
    metavar="FILE",
    multiple=True,
    help="Instead of queries, documents and qrels: a file of two columns, query and document, or TMX, or JSON lines "
    "with positive_passages. Twice: two aligned files.",
)
@click.option(
    "--queries-from",
    type=click.Choice(["titles", "sentences"]),
    help="With documents alone: the title or the first sentence of each document becomes its query.",
)
@click.option(
    "--translator",
    metavar="COMMAND",
    help="Translates such queries into the query language, and teaches the lexicon in a run: 'apertium -u spa-eng', "
    "or settings as for channels.lexicon.translator.",
)
@allow_commands_option
@columns_option
@click.option(
    "--scale",
    metavar="NUMBERS",
    help="Lowest judgment of grade 1, of grade 2, ...: 0.5,0.8. Default: judgments are grades.",
)
@click.option("--run", metavar="FILE", help="A first stage's TREC run file: its documents become the candidates.")
@click.option(
    "--depth", default=DEPTH, show_default=True, type=click.IntRange(min=1), help="Candidates of each query in --run."
)
@click.option("--query-language", metavar="CODE", help="ISO 639-1 code of the queries' language.")
@click.option(
    "--document-language",
    metavar="CODE",
    help="ISO 639-1 code of the documents' language; of several languages, here or above, as de+es: a column lang, or "
    "that of --columns lang=NAME, then has the language of each text.",
)
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
@click.option("--segmented", is_flag=True, help="The words of texts are already separated by white space.")
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
    help="Instead of files: a collection, as the configuration of a run, and the name of its domain. Repeatable.",
)
@click.option("--output", required=True, metavar="OUT", help="An empty folder, or an earlier conversion's.")
@json_option
def convert_command(output: str, as_json: bool, **values: Any) -> None:
    """Convert other layouts, or several collections, into files that `clir run` reads.

    FOLDER has BEIR's layout (corpus.jsonl, queries.jsonl, qrels/*.tsv). Or give single files, pairs, documents alone,
    ids of ir_datasets, or collections to join.

    Example: clir convert scifact --query-language en --document-language fr --output data/scifact
    """
    convert_form = _converter()
    check_extra("pipeline")
    fault = made_fault(output, CONVERSION)
    heading, result = convert_form(values, output, [f"--output: {fault}"] if fault else [])
    if as_json:
        show_json({**result.as_dict(), "output": output})
    else:
        show("\n".join([*filter(None, [heading]), *result.describe()]))
        _say_end(result, output, values["documents"] if values["queries_from"] else None)


def _beir_files(values: Mapping[str, Any], faults: list[str]) -> Collection:
    """Finds the files of a folder in BEIR's layout; adds a fault if judgments are missing."""
    folder = values["folder"]
    texts = []
    for name in ("queries.jsonl", "corpus.jsonl"):
        paths = [path for packed in _PACKED if os.path.exists(path := os.path.join(folder, name + packed))]
        # A missing file is reported later, like other missing files.
        texts.append(paths[0] if paths else os.path.join(folder, name))
    judgments = []
    for name in ("train", "dev", "eval", "test"):
        path = os.path.join(folder, "qrels", f"{name}.tsv")
        if os.path.exists(path):
            judgments.append((_SPLIT_NAMES[name], path))
    if not judgments:
        faults.append(f"{folder} must hold qrels/train.tsv, qrels/dev.tsv or qrels/test.tsv.")
    return Collection(texts[0], texts[1], tuple(judgments))


def _single_files(values: Mapping[str, Any], faults: list[str]) -> Collection:
    return Collection(values["queries"], values["documents"], _split_values(values["qrels"], "--qrels", faults))


def _ir_datasets(values: Mapping[str, Any], faults: list[str]) -> Collection:
    names = _split_values(values["datasets"], "--ir-dataset", faults)
    if faults:
        raise ConfigError(faults)
    return find_collection(names)


def _convert(find: _Find, values: Mapping[str, Any], output: str, faults: list[str]) -> tuple[str, Conversion]:
    """Converts the files that `find` finds; returns a heading and the result."""
    collection = find(values, faults)
    run = values["run"]
    if run is None and "depth" in _named_parameters():
        raise click.UsageError("--depth limits the documents of --run; give --run, too.")
    if run is not None and "negatives" in _named_parameters():
        raise click.UsageError("--negatives are drawn only without --run; give one of them.")
    sources = Sources(collection.queries, collection.documents, collection.judgments, run)
    paths = [path for path in sources.paths() if not is_of_ir_datasets(path)]
    settings = _settings(values, paths, collection.query_language, collection.document_language, faults)
    return _run_conversion(settings, output, lambda: convert(sources, settings, Path(output)))


def _convert_pairs(values: Mapping[str, Any], output: str, faults: list[str]) -> tuple[str, Conversion]:
    """Converts a file of pairs, or two aligned files; returns a heading and the result."""
    paths = values["pairs"]
    if len(paths) > 2:
        faults.append(f"--pairs: must be a file of pairs, or two aligned files; got {len(paths)} files.")
    settings = _settings(values, paths, None, None, faults, have_queries=False)
    return _run_conversion(settings, output, lambda: convert_pairs(paths, settings, Path(output)))


def _convert_documents(values: Mapping[str, Any], output: str, faults: list[str]) -> tuple[str, Conversion]:
    """Converts documents, whose titles or first sentences become queries; returns a heading and the result."""
    translator = _translator(values["translator"], faults)
    query_language, document_language = values["query_language"], values["document_language"]
    if values["translator"] is None and query_language != document_language:
        faults.append(
            f"--translator: must be given, because the {values['queries_from']} of the documents are in "
            f"{document_language}, and queries shall be in {query_language}. Name a program, such as "
            "'apertium -u spa-eng' (docs/translation.md). Or take a pre-trained encoder of both languages "
            f"(docs/encoders.md), and train beside it in one language: --query-language {document_language}."
        )
    elif values["translator"] is not None and query_language == document_language:
        faults.append(f"--translator: must not be given where queries and documents are both in {query_language}.")
    path, query_source = values["documents"], values["queries_from"]
    settings = _settings(values, [path], None, None, faults, have_queries=False)
    with heavy_imports():
        from pipeline.conversion.document_pairs import convert_documents
    with StageView() as view:
        view.start(0, 0, "converting")
        run_conversion = partial(convert_documents, path, query_source, translator, settings, Path(output))
        return _run_conversion(settings, output, run_conversion)


def _translator(value: str | None, faults: list[str]) -> TranslatorSettings | None:
    """Returns the translator of --translator, a command or the settings of a translator; adds their faults."""
    if value is None:
        return None
    try:
        _, content = load_yaml(value)
        if isinstance(content, str):
            content = shlex.split(content)
        return TranslatorSettings.model_validate(
            content if isinstance(content, dict) else {"kind": "command", "command": content}
        )
    except pydantic.ValidationError as errors:
        faults += [describe_fault(error, {}, "--translator", TranslatorSettings) for error in errors.errors()]
    except (NotYamlError, ValueError) as error:  # the last for quotes without an end
        faults.append(f"--translator: {error}.")
    return None


def _settings(
    values: Mapping[str, Any],
    paths: Sequence[str],
    query_language: str | None,
    document_language: str | None,
    faults: list[str],
    have_queries: bool = True,
) -> ConversionSettings:
    """Returns the settings of a conversion.

    Args:
      values: those of the command line.
      paths: the files that are converted.
      query_language, document_language: the languages where the command line names none.
      faults: all earlier faults.
      have_queries: see `settings_faults`.

    Raises:
      ConfigError: there are faults: all of them.
    """
    own = {name: values[name] for name in ConversionSettings.__dataclass_fields__}
    for name, language in {"query_language": query_language, "document_language": document_language}.items():
        own[name] = own[name] or language
        if own[name] is None:
            raise click.UsageError(f"Missing option '{_option_name(name)}'.")
        own[name] = joined_codes(codes_of(own[name]))
    own["columns"] = column_names(values["columns"], faults)
    own["scale"] = _scale(values["scale"], faults)
    settings = ConversionSettings(**own)
    file_faults = [*filter(None, map(file_fault, paths))]
    named_faults = settings_faults(settings, () if file_faults else paths, have_queries)
    faults = [*faults, *(f"{_option_name(name)}: {fault}" for name, fault in named_faults), *file_faults]
    if faults:
        raise ConfigError(faults)
    return settings


def _scale(value: str | None, faults: list[str]) -> tuple[float, ...] | None:
    """Returns the numbers of --scale; adds a fault if they are none."""
    try:
        return None if value is None else tuple(map(float, value.split(",")))
    except ValueError:
        faults.append(f"--scale: must be ascending numbers with commas between them, such as 0.5,0.8; got {value!r}.")
        return None


def _run_conversion(
    settings: ConversionSettings, output: str, run_conversion: Callable[[], Conversion]
) -> tuple[str, Conversion]:
    quiet.quieten(verbose=False)
    with run_lock(Path(output)):
        conversion = run_conversion()
    return f"{settings.query_language} queries, {settings.document_language} documents", conversion


def _join(values: Mapping[str, Any], output: str, faults: list[str]) -> tuple[str, Joined]:
    """Joins collections, each `NAME=CONFIG`."""
    named = [value.partition("=") for value in values["joined"]]
    faults += [
        f"--join: must be NAME=CONFIG; got {value!r}."
        for value, (name, _, path) in zip(values["joined"], named, strict=True)
        if not (name and path)
    ]
    if len(named) < 2:
        faults.append("--join: must name two or more collections; got one.")
    if faults:
        raise ConfigError(faults)
    collections = [(name, load_config(path).data) for name, _, path in named]
    faults = join_faults(collections)
    folder = Path(output).resolve()
    paths = [path for _, data in collections for path in data.inputs().values()]
    if inside := [path for path in paths if Path(path).resolve().is_relative_to(folder)]:
        faults.append(
            f"the output must not hold files of a joined collection, which it would replace; got {inside[0]}."
        )
    if faults:
        raise ConfigError([f"--join: {fault}" for fault in faults])
    quiet.quieten(verbose=False)
    with run_lock(Path(output)), StageView() as view:
        return "", join(dict(collections), Path(output), view.start)


_SETTINGS: Final = ("run", *ConversionSettings.__dataclass_fields__)
_PAIR_SETTINGS: Final = ("query_language", "document_language", "negatives", "segmented", "max_bad_share", "columns")
_FORMS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...], _Convert]]] = {
    "--join": (("joined",), (), _join),
    "--pairs": (("pairs",), _PAIR_SETTINGS, _convert_pairs),
    "--queries-from and --documents": (
        ("queries_from", "documents"), (*_PAIR_SETTINGS, "translator"), _convert_documents
    ),
    "--ir-dataset": (("datasets",), _SETTINGS, partial(_convert, _ir_datasets)),
    "FOLDER in BEIR's layout": (("folder",), _SETTINGS, partial(_convert, _beir_files)),
    "--queries, --documents and --qrels": (
        ("queries", "documents", "qrels"), _SETTINGS, partial(_convert, _single_files)
    ),
}  # fmt: skip
"""The forms of the input: its required parameters, of which the first shows the form; its optional ones; and the
function that converts it."""


def _converter() -> _Convert:
    """Returns the conversion of the command line's form of input. Refuses missing and unused parameters."""
    names = _named_parameters()
    for form, (needs, takes, convert_form) in _FORMS.items():
        if needs[0] not in names:
            continue
        if excess := sorted(names.difference(needs, takes, ("output", "as_json"))):
            raise click.UsageError(f"{form} cannot be combined with {', '.join(map(_option_name, excess))}.")
        if names.issuperset(needs):
            return convert_form
    raise click.UsageError(f"give {', or '.join(_FORMS)}.")


def _named_parameters() -> set[str]:
    """Returns the parameters on the command line."""
    context = click.get_current_context()
    return {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}


def _option_name(name: str) -> str:
    """Returns a parameter's name on the command line."""
    parameters = {parameter.name: parameter for parameter in click.get_current_context().command.params}
    return "FOLDER" if name == "folder" else parameters[name].opts[0]


def _say_end(result: Conversion | Joined, output: str, documents: str | None) -> None:
    """Prints notes, the written files and the next commands; `documents` are those from which queries were made."""
    lines = [*result.notes, f"written to {short(output)}:", f"  {', '.join([*result.written, ACCOUNT_FILE])}"]
    permission = " --allow-commands" if isinstance(result, Conversion) and result.runs_commands else ""
    lines += ["", "next:", f"  {program()} run {for_shell(os.path.join(output, CONFIG_FILE))}{permission}"]
    if documents:  # a pair lacks its query, and documents without a pair are left out
        run = for_shell(os.path.join(output, RUN_FOLDER))
        lines.append(f"  {program()} index {run} --documents {for_shell(documents)}")
    say("\n".join(lines))


def _split_values(values: Sequence[str], option: str, faults: list[str]) -> tuple[tuple[str, str], ...]:
    """Returns (split, path or id) of each value of an option; the split is empty if the value names none."""
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
        faults.append(f"{option}: all values must name a split, or none; {unnamed} names none.")
    return tuple(judgments)
