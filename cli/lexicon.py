"""`clir lexicon`: shows the translations in a model's lexicon."""

import click

from cli.arguments import check_query_text, json_option, model_argument
from cli.imports import heavy_imports
from cli.model_folder import find_model
from cli.terminal import FIELD, show, show_json
from schemas.wording import printable


@click.command()
@model_argument
@click.option("--word", "words", metavar="WORD", multiple=True, required=True, help="A word of a query; repeatable.")
@json_option
def lexicon(model: str, words: tuple[str, ...], as_json: bool) -> None:
    """Show the translations of query words in the lexicon of an exported MODEL, best first.

    Each word is shown with its stem, the document stems that answer it, and the weight of each. The same stem always
    answers it, with the weight 1.

    MODEL is a run's output folder, its serving folder, or one version in it.

    Example: clir lexicon runs/sample --word cat --word river
    """
    for word in words:
        check_query_text("--word", word)
    path = find_model(model)
    with heavy_imports():
        from models.exported.model import LoadedModel

    found = LoadedModel(path).translations(words)
    if as_json:
        show_json([{"word": word, "stems": [stem.model_dump() for stem in found[word]]} for word in words])
        return
    for word in words:
        if not found[word]:
            show(f"{printable(word, FIELD)!r} holds no word")
        for stem in found[word]:
            show(f"{printable(word, FIELD)}, stem {printable(stem.stem, FIELD)}")
            for one in stem.translations:
                show(f"  {one.weight:.4f}  {printable(one.stem, FIELD)}")
            if not stem.translations:
                show("  no translation; only the same stem answers it")
