"""`clir rank`: documents in the order of a model's scores."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from cli.arguments import check_query_text, feedback_option, lines_of_stdin
from cli.documents import read_documents
from cli.imports import heavy_imports
from cli.model_folder import find_model
from cli.terminal import FIELD, say, show, show_json
from schemas.wording import printable

if TYPE_CHECKING:
    from models.retrieval.document_ranker import RankedDocument


@click.command()
@click.argument("model", type=click.Path())
@click.option(
    "--query", "queries", metavar="TEXT", multiple=True, help="A query; without it, one query a line from stdin."
)
@click.option(
    "--documents", required=True, metavar="FILE", help="Documents: id, title, text, tab-separated; - for stdin."
)
@click.option("--top", default=10, show_default=True, type=click.IntRange(min=1), help="Documents to show for a query.")
@feedback_option
@click.option("--explain", is_flag=True, help="Show what made each score: channels, and words that match.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a query.")
def rank(
    model: str, queries: tuple[str, ...], documents: str, top: int, feedback: float, explain: bool, as_json: bool
) -> None:
    """Rank documents for a query with an exported MODEL.

    MODEL is a run's output folder, its serving folder, or one version in it.

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
    from pipeline.quiet import quieten

    quieten(verbose=False)
    with heavy_imports():
        from models.retrieval.document_ranker import DocumentRanker

    ranker = DocumentRanker(path, texts, feedback)
    for query in queries or lines_of_stdin():
        results = ranker.rank(query, top, explain)
        if not results:
            say(f"the model knows no word of the query {printable(query, FIELD)!r}")
        if as_json:
            show_json({"query": query, "documents": [_as_dict(result) for result in results]}, indent=None)
        else:
            if len(queries) != 1:
                show(f"query: {printable(query, FIELD)}")
            for result in results:
                doc_id, title = printable(result.doc_id, FIELD), printable(result.title, FIELD)
                show(f"{result.rank:3}  {result.score:7.4f}  {doc_id}  {title}")
                for line in describe_parts(result.parts):
                    show(line)
            if len(queries) != 1:
                show("")


def _as_dict(result: "RankedDocument") -> dict[str, Any]:
    """For JSON; without parts where nobody asked for them."""
    content = result._asdict()
    parts = [part.model_dump() for part in content.pop("parts")]
    return {**content, "parts": parts} if parts else content


if TYPE_CHECKING:
    from models.exported.explanation import ScorePart

MOST_WORDS: Final = 8
"""Lines for the words of a channel; the parts of the others are summed."""


def describe_parts(parts: "tuple[ScorePart, ...]") -> Iterator[str]:
    """A line for each part, and below it for each of its words, with the numbers under those of `clir rank`."""
    for one in parts:
        yield _line(one.part, one.name)
        for word in one.words[:MOST_WORDS]:
            answer, asked = (printable(term, FIELD) for term in (word.document_term, word.query_term))
            yield _line(word.part, f"  {asked} <- {answer}")
        if others := one.words[MOST_WORDS:]:
            yield _line(sum(word.part for word in others), f"  {len(others)} others")


def _line(part: float, text: str) -> str:
    return f"     {part:7.4f}  {text}"
