"""`clir search`: finds the best documents of a whole collection."""

import os

import click

from schemas.wording import printable
from smooth_clir.cli.arguments import (
    check_query_text,
    feedback_option,
    index_option,
    json_lines_option,
    lines_of_stdin,
    model_argument,
)
from smooth_clir.cli.imports import heavy_imports
from smooth_clir.cli.model_folder import engines_of, find_index
from smooth_clir.cli.shown_document import show_document, shown_id, snippet_characters
from smooth_clir.cli.terminal import FIELD, say, show, show_json


@click.command()
@model_argument
@click.argument("queries", metavar="[QUERY]...", nargs=-1)
@click.option("-k", "limit", default=10, show_default=True, type=click.IntRange(1, 1000), help="Results of each query.")
@click.option(
    "--where", metavar="FILTER",
    help="Only documents with these values of fields, such as 'lang=es|fr,year>=2020'; see docs/search.md.",
)  # fmt: skip
@feedback_option
@index_option
@json_lines_option
def search(
    model: str,
    queries: tuple[str, ...],
    limit: int,
    where: str | None,
    gain: float | None,
    index: str | None,
    as_json: bool,
) -> None:
    """Search the index of a MODEL (see `clir index`) for each QUERY; without a QUERY, for each line of stdin.

    Shows each document's title, or its first words, and the piece of its text that matches best. "82 % relevant" is the
    share of relevant documents among those with this score, measured on the eval split. A query without a good answer
    is marked.

    MODEL is a run's output folder, its serving folder, or a version in it.

    Example: clir search runs/sample "molten rock" -k 3
    """
    for query in queries:
        check_query_text("QUERY", query)
    location = find_index(model, index)
    with heavy_imports():
        from models.exported.loading import expect_few_calls
        from smooth_clir.retrieval.snippet import CHARACTERS

        if queries:
            expect_few_calls()
        engines, newest = engines_of(location, gain)
    engine = engines.load(newest)
    if engine.model_version != (version := os.path.basename(location.newest_model)):
        say(
            f"the index is of model {engine.model_version}, which searches it; to index with the newest, {version}: "
            + location.command
        )
    if engine.why_first_pass:
        say(f"searching without a second pass: {engine.why_first_pass}")
    if engine.why_no_shares:
        say(f"shares of relevant documents are not shown: {engine.why_no_shares}")
    # JSON has the service's snippets; a person's snippets fit on a line.
    characters = CHARACTERS if as_json else snippet_characters()
    for query in queries or lines_of_stdin():
        answer = engine.search(
            query, limit, with_snippets=True, with_texts=not as_json, snippet_characters=characters, where=where
        )
        if not answer.results:
            reason = "no document that matches --where answers a known word" if where else "the model knows no word"
            say(f"{reason} of the query {printable(query, FIELD)!r}")
        if as_json:
            show_json(answer.model_dump(exclude_none=True, exclude={"milliseconds"}), indent=None)
            continue
        if len(queries) != 1:
            show(f"query: {printable(query, FIELD)}")
        if answer.results and answer.why_no_good_answer:
            show(f"no good answer: {answer.why_no_good_answer}")
        for hit in answer.results:
            # The shares hold for queries like those of the eval split, not for marked queries.
            share = None if answer.why_no_good_answer else hit.relevant_share
            doc_id = shown_id(hit.doc_id, hit.passage)
            show_document(hit.rank, hit.score, share, doc_id, hit.title, hit.text or "", hit.snippet, hit.fields)
        if len(queries) != 1:
            show("")
