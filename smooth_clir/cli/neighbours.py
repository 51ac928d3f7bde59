"""`clir neighbours`: shows the words whose vectors are nearest to a word's."""

import click

from schemas.wording import printable
from smooth_clir.cli.arguments import check_query_text, json_option, model_argument
from smooth_clir.cli.imports import heavy_imports
from smooth_clir.cli.model_folder import find_model
from smooth_clir.cli.terminal import FIELD, show, show_json


@click.command()
@model_argument
@click.option("--word", "words", metavar="WORD", multiple=True, required=True, help="A word; repeatable.")
@click.option("--documents", is_flag=True, help="The words are in the documents' language, not in the queries'.")
@click.option("-k", "limit", default=5, show_default=True, type=click.IntRange(1, 1000), help="Words of each list.")
@json_option
def neighbours(model: str, words: tuple[str, ...], documents: bool, limit: int, as_json: bool) -> None:
    """Show the words whose vectors are nearest to each WORD's in an exported MODEL.

    Words of the same language are compared by the distance of their vectors, words of the other language by the inner
    product: the score of a query and a document of these words.

    MODEL is a run's output folder, its serving folder, or a version in it.

    Example: clir neighbours runs/sample --word cat --word river
    """
    for word in words:
        check_query_text("--word", word)
    path = find_model(model)
    with heavy_imports():
        from models.exported.model import LoadedModel
        from models.exported.neighbours import nearest_words

    results = nearest_words(
        LoadedModel(path, "encode_query", "encode_document"), words, "document" if documents else "query", limit
    )
    if as_json:
        show_json([result.model_dump() for result in results])
        return
    role, opposite_role = ("documents", "queries") if documents else ("queries", "documents")
    for result in results:
        if not result.own_side:
            show(f"{printable(result.word, FIELD)}: the model does not know it")
            continue
        show(f"{printable(result.word, FIELD)}")
        for head, words_of_side in (
            (f"distance in {role}", result.own_side),
            (f"inner product with {opposite_role}", result.other_side),
        ):
            show(f"  {head}")
            for neighbour in words_of_side:
                show(f"  {neighbour.value:8.4f}  {printable(neighbour.word, FIELD)}")
