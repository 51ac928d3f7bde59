"""`clir rank`: ranks documents by a model's scores."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from schemas.wording import printable
from smooth_clir.cli.arguments import (
    check_query_text,
    feedback_option,
    json_lines_option,
    lines_of_stdin,
    model_argument,
)
from smooth_clir.cli.documents import read_documents
from smooth_clir.cli.imports import heavy_imports
from smooth_clir.cli.model_folder import find_model
from smooth_clir.cli.shown_document import show_document, shown_id, snippet_characters
from smooth_clir.cli.terminal import FIELD, say, show, show_json

if TYPE_CHECKING:
    from models.exported.explanation import ScorePart
    from smooth_clir.retrieval.document_ranker import RankedDocument

MAX_WORDS: Final = 8
"""Largest number of lines for the words of a channel; another line sums the other words."""


@click.command()
@model_argument
@click.option("--query", "queries", metavar="TEXT", multiple=True, help="A query; default: each line of stdin.")
@click.option(
    "--documents", required=True, metavar="FILE", help="Documents: id, title, text, or id, text; - for stdin."
)
@click.option("--top", default=10, show_default=True, type=click.IntRange(min=1), help="Documents to show for a query.")
@feedback_option
@click.option("--explain", is_flag=True, help="Show the parts of each score: channels, and words that match.")
@json_lines_option
def rank(
    model: str, queries: tuple[str, ...], documents: str, top: int, gain: float | None, explain: bool, as_json: bool
) -> None:
    """Rank documents for a query with an exported MODEL.

    Shows each document's title, or its first words, and the piece of its text that matches best. "82 % relevant" is the
    share of relevant documents among those with this score in the model's own collection, measured on the eval split. A
    query without a good answer is marked.

    MODEL is a run's output folder, its serving folder, or a version in it.

    Example: clir rank runs/sample --query "a river of molten rock" --documents data/sample/wiki_fr.documents
    """
    if documents == "-" and not queries:
        raise click.UsageError("queries and documents cannot both come from stdin; give --query.")
    for query in queries:
        check_query_text("--query", query)
    path = find_model(model)
    texts, drops = read_documents(documents)
    for line in drops:
        say(line)
    with heavy_imports():
        from models.exported.loading import expect_few_calls
        from models.exported.model import LoadedModel
        from smooth_clir.retrieval.document_ranker import DocumentRanker
        from smooth_clir.retrieval.snippet import make_snippet, matching_words

    if queries:
        expect_few_calls()
    model_here = LoadedModel(path)
    ranker = DocumentRanker(model_here, texts, gain)
    if ranker.why_no_shares:
        say(f"shares of relevant documents are not shown: {ranker.why_no_shares}")
    for query in queries or lines_of_stdin():
        results = ranker.rank(query, top, explain)
        has_shares = model_here.relevance is not None
        first_pass = [result.score - (result.feedback or 0) for result in results]
        why = model_here.why_no_good_answer(query, first_pass) if has_shares else None
        if not results:
            say(f"the model knows no word of the query {printable(query, FIELD)!r}")
        if as_json:
            judgment: dict[str, Any] = {"no_good_answer": why is not None} if has_shares else {}
            judgment |= {"why_no_good_answer": why} if why else {}
            content = {"query": query, **judgment, "documents": [_as_dict(result) for result in results]}
            show_json(content, indent=None)
        else:
            if len(queries) != 1:
                show(f"query: {printable(query, FIELD)}")
            if results and why:
                show(f"no good answer: {why}")
            for result in results:
                text = result.text
                snippet = make_snippet(text, matching_words(model_here, query, text), snippet_characters())
                share = None if why else result.relevant_share
                doc_id = shown_id(result.doc_id, result.passage)
                show_document(result.rank, result.score, share, doc_id, result.title, text, snippet)
                for line in describe_parts(result.parts):
                    show(line)
            if len(queries) != 1:
                show("")


def _as_dict(result: "RankedDocument") -> dict[str, Any]:
    """Returns a result for JSON, with parts only if requested, and without a missing share."""
    content = {name: value for name, value in result._asdict().items() if value is not None and name != "text"}
    parts = [part.model_dump() for part in content.pop("parts")]
    return {**content, "parts": parts} if parts else content


def describe_parts(parts: "tuple[ScorePart, ...]") -> Iterator[str]:
    """Yields a line for each part, followed by its words; aligns the numbers with the scores."""
    for part in parts:
        yield _line(part.part, part.name)
        for word in part.words[:MAX_WORDS]:
            document_term, query_term = (printable(term, FIELD) for term in (word.document_term, word.query_term))
            yield _line(word.part, f"  {query_term} <- {document_term}")
        if remaining := part.words[MAX_WORDS:]:
            yield _line(sum(word.part for word in remaining), f"  {len(remaining)} others")


def _line(part: float, text: str) -> str:
    return f"     {part:7.4f}  {text}"
