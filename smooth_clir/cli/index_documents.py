"""`clir index`: makes documents searchable, and updates their index."""

import logging
import time

import click

from pipeline.input_files import files_of
from pipeline.output_path import local_fault
from schemas.columns import field_name, fields_of_roles
from schemas.errors import DataError
from schemas.languages import are_several
from smooth_clir.cli.arguments import index_option, json_option, model_argument
from smooth_clir.cli.documents import STDIN, DocumentFiles, read_ids
from smooth_clir.cli.imports import heavy_imports
from smooth_clir.cli.model_folder import IndexLocation, find_index, index_updater
from smooth_clir.cli.terminal import StageView, say, short, show, show_json


@click.command("index")
@model_argument
@click.option(
    "--documents", metavar="FILE", multiple=True,
    help="All documents: id, title, text, or id, text; repeatable. Default: the run's.",
)  # fmt: skip
@click.option("--add", "added", metavar="FILE", multiple=True, help="Documents to add, or to replace; - for stdin.")
@click.option("--remove", "removed", metavar="FILE", multiple=True, help="Ids to remove, a line each; - for stdin.")
@click.option(
    "--fields", metavar="NAMES",
    help="Further columns of the documents for `clir search --where`, such as lang,year. "
    "'' for none. Default: those of the index, else of the run.",
)  # fmt: skip
@click.option("--check", is_flag=True, help="Only compare the files of all versions with their digests.")
@index_option
@json_option
def index_command(
    model: str,
    documents: tuple[str, ...],
    added: tuple[str, ...],
    removed: tuple[str, ...],
    fields: str | None,
    check: bool,
    index: str | None,
    as_json: bool,
) -> None:
    """Index documents with an exported MODEL, for `clir search` and `clir serve`.

    The index then holds exactly these documents. Unchanged documents are not encoded again; if nothing has changed,
    nothing is written. With --add and --remove the other documents are kept. With other --fields than before all
    documents are encoded again. --check names damaged files; index all documents to mend them.

    The drift is the distance of the documents from the model's own; see docs/search.md.

    MODEL is a run's output folder, its serving folder, or a version in it.

    Example: clir index runs/sample
    """
    if documents and (added or removed):
        raise click.UsageError("--documents names all documents; give it without --add and --remove.")
    if [*documents, *added, *removed].count(STDIN) > 1:
        raise click.UsageError("stdin can be read only once; give - once.")
    if check and (documents or added or removed or fields is not None):
        raise click.UsageError("--check changes nothing; give it without --documents, --add, --remove and --fields.")
    if fields is not None and (added or removed):
        raise click.UsageError("an index keeps its fields; give --fields without --add and --remove.")
    named_fields = None if fields is None else _field_names(fields)
    location = find_index(model, index)
    if check:
        _check(location, as_json)
        return
    if fault := local_fault(location.index_folder, "folder"):
        raise DataError(f"--index: {fault}")
    is_change = bool(added or removed)
    paths = added if is_change else documents or _documents_of_run(location)
    files = DocumentFiles([file for path in paths for file in ([path] if path == STDIN else files_of(path))])
    ids = [doc_id for path in removed for doc_id in read_ids(path)]
    with heavy_imports():
        import smooth_clir.retrieval.update_index  # noqa: F401 - not while the documents are encoded

    progress = logging.getLogger("clir.progress")
    with StageView() as view:
        view.start(0, 0, "indexing")
        started = time.monotonic()

        def report(encoded: int) -> None:
            share = files.share
            left = f", {(time.monotonic() - started) * (1 - share) / share:.0f} s left" if share else ""
            progress.info("%s documents encoded%s", f"{encoded:,}", left)

        updater = index_updater(location, report)
        if is_change:
            update = updater.change(files.texts(updater.fields) if added else (), ids)
        else:
            names = updater.fields or _fields_of_run(location) if named_fields is None else named_fields
            if named_fields is None and names:
                say(f"the documents' fields are still {', '.join(names)}; --fields names others")
            update = updater.replace_all(files.texts(names), names)
    for line in files.left_out():
        say(line)
    if update.unknown:
        say(f"{update.unknown:,} of {len(set(ids)):,} ids to remove are not in the index")
    for sentence in update.drift.warnings():
        say(f"warning: {sentence}")
    if as_json:
        show_json(update.model_dump())
        return
    counts = f"{update.added:,} added, {update.replaced:,} replaced, {update.removed:,} removed"
    held = f"{update.documents:,} {'passages; documents' if update.has_passages else 'documents'}"
    show(f"{short(update.version)} holds {held}: {counts}, {update.unchanged:,} unchanged")
    if update.fields:
        parts = (f"{name} ({field.type}, {field.documents:,} documents)" for name, field in update.fields.items())
        show(f"fields: {', '.join(parts)}")
    if location.milvus:
        show(f"{location.searched} holds the same version")
    show(update.drift.describe())


def _fields_of_run(location: IndexLocation) -> tuple[str, ...]:
    """Returns the documents' fields in a run's configuration, first the language where documents have several."""
    fields, language = location.settings("search").get("fields"), location.settings("data").get("document_language")
    names = _field_names(",".join(map(str, fields))) if isinstance(fields, list) else ()
    in_languages = ["documents"] if isinstance(language, str) and are_several(language) else []
    return fields_of_roles(in_languages, names)["documents"]


def _field_names(text: str) -> tuple[str, ...]:
    try:
        names = [field_name(name) for name in text.split(",") if text]
    except ValueError as error:
        raise click.UsageError(f"--fields: {error}.") from None
    if len({*names}) < len(names):
        raise click.UsageError(f"--fields: must name a field once; got {text}.")
    return tuple(names)


def _check(location: IndexLocation, as_json: bool) -> None:
    """Compares the files of all versions with their manifests; prints a line for each file, and for Milvus.

    Raises:
      DataError: the index is missing, a file is damaged, or Milvus does not hold the newest version.
    """
    folder = location.index_folder
    with StageView() as view:
        view.start(0, 0, "checking")
        with heavy_imports():
            from smooth_clir.retrieval.index_files import check_version
            from smooth_clir.retrieval.index_versions import IndexVersions
            from smooth_clir.retrieval.milvus_versions import MilvusVersions

        versions = IndexVersions(folder)
        checks = {version: check_version(str(version)) for version in versions.all()}
    if not checks:
        raise DataError(f"No index found in {folder}. Make one with `clir index`.")
    rows = [
        {"file": str(version / path), "state": state, "fault": files.faults.get(path, "")}
        for version, files in checks.items()
        if version.is_dir()  # an update may remove it meanwhile
        for path, state in files.states(str(version)).items()
    ]
    fault = ""
    if location.milvus and (newest := versions.newest()):
        fault = MilvusVersions(location.milvus).fault_of(newest)
        rows.append({"file": location.searched, "state": "damaged" if fault else "sound", "fault": fault})
    if as_json:
        show_json(rows)
    for row in () if as_json else rows:
        file = row["file"] if row["file"] == location.searched else short(row["file"])
        show(f"{file}: {row['state']}" + f": {row['fault']}" * bool(row["fault"]))
    damaged = [version for version, files in checks.items() if files.faults and version.is_dir()]
    if damaged:
        is_newest = damaged[-1] == versions.newest()
        way_back = versions.way_back(damaged[-1]) if is_newest else "The newest version is sound."
        raise DataError(f"damaged: {', '.join(short(str(version)) for version in damaged)}. {way_back}")
    if fault:
        raise DataError(f"damaged: {location.searched}: {fault}. Write the newest version again with `clir index`.")


def _documents_of_run(location: IndexLocation) -> list[str]:
    """Returns the documents file in a run's configuration."""
    config = short(str(location.config))
    if not location.config.is_file():
        raise click.UsageError(f"{config}, which would name the run's documents, does not exist; give --documents.")
    documents = location.settings("data").get("documents")
    if not isinstance(documents, str):
        raise click.UsageError(f"{config} names no documents; give --documents.")
    return [documents]
