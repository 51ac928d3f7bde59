"""`clir index`: makes documents searchable, and updates their index."""

import logging
import time

import click

from cli.arguments import index_option, json_option, model_argument
from cli.documents import STDIN, DocumentFiles, read_ids
from cli.imports import heavy_imports
from cli.model_folder import IndexPlace, index_place
from cli.terminal import StageView, say, short, show, show_json
from pipeline.input_files import files_of


@click.command("index")
@model_argument
@click.option(
    "--documents", metavar="FILE", multiple=True,
    help="All documents: id, title, text, tab-separated; repeatable. Default: those of the run.",
)  # fmt: skip
@click.option("--add", "added", metavar="FILE", multiple=True, help="Documents to add, or to replace; - for stdin.")
@click.option("--remove", "removed", metavar="FILE", multiple=True, help="Ids to remove, one a line; - for stdin.")
@index_option
@json_option
def index_command(
    model: str,
    documents: tuple[str, ...],
    added: tuple[str, ...],
    removed: tuple[str, ...],
    index: str | None,
    as_json: bool,
) -> None:
    """Index documents with an exported MODEL, for `clir search` and `clir serve`.

    The index then holds the given documents and no others. Documents that have not changed are not encoded again; if
    nothing has changed, nothing is written. With --add and --remove the other documents stay.

    The drift is the distance of the documents from those that the model was made with; see docs/search.md.

    MODEL is a run's output folder, its serving folder, or one version in it.

    Example: clir index runs/sample
    """
    if documents and (added or removed):
        raise click.UsageError("--documents names all documents; give it without --add and --remove.")
    if [*documents, *added, *removed].count(STDIN) > 1:
        raise click.UsageError("stdin can be read once; give - once.")
    place = index_place(model, index)
    is_change = bool(added or removed)
    given = added if is_change else documents or _documents_of_run(place)
    files = DocumentFiles([file for path in given for file in ([path] if path == STDIN else files_of(path))])
    ids = [one for path in removed for one in read_ids(path)]
    with heavy_imports():
        from components.index_pusher.index_versions import IndexVersions
        from serving.update_index import IndexUpdater

    progress = logging.getLogger("clir.progress")
    with StageView() as view:
        view.start(0, 0, "indexing")
        started = time.monotonic()

        def report(encoded: int) -> None:
            share = files.share
            left = f", {(time.monotonic() - started) * (1 - share) / share:.0f} s left" if share else ""
            progress.info("%s documents encoded%s", f"{encoded:,}", left)

        updater = IndexUpdater(place.newest_model, IndexVersions(place.index_folder), report)
        update = (
            updater.change(files.texts() if added else (), ids) if is_change else updater.replace_all(files.texts())
        )
    for line in files.left_out():
        say(line)
    for sentence in update.drift.warnings():
        say(f"warning: {sentence}")
    if as_json:
        show_json(update.model_dump())
        return
    counts = f"{update.added:,} added, {update.replaced:,} replaced, {update.removed:,} removed"
    show(f"{short(update.version)} holds {update.documents:,} documents: {counts}, {update.unchanged:,} as they were")
    show(update.drift.describe())


def _documents_of_run(place: IndexPlace) -> list[str]:
    """The documents file in a run's configuration."""
    config = short(str(place.config))
    if not place.config.is_file():
        raise click.UsageError(f"there is no {config} that would name a run's documents; give --documents.")
    documents = place.data_settings().get("documents")
    if not isinstance(documents, str):
        raise click.UsageError(f"{config} names no documents; give --documents.")
    return [documents]
