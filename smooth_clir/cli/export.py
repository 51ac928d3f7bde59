"""`clir export`: writes an index's documents for another search engine."""

import logging
import os

import click

from models.time_left import TimeLeft
from pipeline.output_path import local_fault
from schemas.errors import DataError
from smooth_clir.cli.arguments import check_query_text, index_option, model_argument
from smooth_clir.cli.imports import heavy_imports
from smooth_clir.cli.model_folder import engines_of, find_index
from smooth_clir.cli.terminal import StageView, say, short, show

_LOGGED_EVERY = 1000


@click.command("export")
@model_argument
@click.option(
    "--to", "engine", required=True, type=click.Choice(["vespa", "opensearch", "parquet"]), help="The form to write."
)
@click.option("--output", required=True, metavar="FOLDER", type=click.Path(), help="A new or empty folder.")
@click.option("--query", metavar="TEXT", help="A query for an example of a request, query.json.")
@index_option
def export_command(model: str, engine: str, output: str, query: str | None, index: str | None) -> None:
    """Write the index of a MODEL (see `clir index`) for another search engine.

    For Vespa and OpenSearch: a schema, the documents in the engine's bulk form, and a request that computes the model's
    score. For Parquet: id, title, text, vector, terms and their weights of each document.

    MODEL is a run's output folder, its serving folder, or a version in it.

    Example: clir export runs/sample --to vespa --output vespa --query "molten rock"
    """
    if query is not None:
        check_query_text("--query", query)
    if fault := local_fault(output, "folder"):
        raise DataError(f"--output: {fault}")
    if os.path.isdir(output) and os.listdir(output):
        raise DataError(f"--output: must be a new or empty folder; {output} is not empty. Choose another folder.")
    location = find_index(model, index)
    with heavy_imports():
        from smooth_clir.retrieval.exports.export import export_index

        # The documents in Milvus are also on disk.
        if engine == "parquet":
            import pyarrow  # noqa: F401 - of an extra that the other engines do without

        engines, newest = engines_of(location if index else location._replace(milvus=None))
    progress = logging.getLogger("clir.progress")
    with StageView() as view:
        view.start(0, 0, "exporting")
        documents, made_by = engines.load_pair(newest)
        time_left = TimeLeft(0, len(documents))

        def report(done: int) -> None:
            if done % _LOGGED_EVERY == 0:
                left = time_left.after(done)
                progress.info("%s of %s documents, %s left", f"{done:,}", f"{len(documents):,}", left)

        remarks = export_index(documents, made_by, engine, output, query, report)
    for remark in remarks:
        say(remark)
    show(f"{short(output)} holds {len(documents):,} documents for {engine}; docs/search.md explains how to load them")
