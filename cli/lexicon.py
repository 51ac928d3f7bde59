"""`clir lexicon`: what a model's lexicon translates words to."""

from typing import TYPE_CHECKING

import click

from cli.arguments import check_query_text
from cli.imports import heavy_imports
from cli.model_folder import find_model
from cli.terminal import FIELD, show, show_json
from schemas.wording import printable

if TYPE_CHECKING:
    from models.exported.word_translations import StemTranslations


@click.command()
@click.argument("model", type=click.Path())
@click.option("--word", "words", metavar="WORD", multiple=True, required=True, help="A word of a query; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def lexicon(model: str, words: tuple[str, ...], as_json: bool) -> None:
    """Show what the lexicon of an exported MODEL translates words of queries to, best first.

    Shown are a word's stem, the stems of documents that answer it, and the weight of each. The same stem answers it in
    any case, with the weight 1.

    MODEL is a run's output folder, its serving folder, or one version in it.

    Example: clir lexicon runs/sample --word cat --word river
    """
    for word in words:
        check_query_text("--word", word)
    path = find_model(model)
    from pipeline.quiet import quieten

    quieten(verbose=False)
    with heavy_imports():
        from models.exported.word_translations import word_translations

    found = word_translations(path, words)
    if as_json:
        show_json([{"word": word, "stems": [stem.model_dump() for stem in found[word]]} for word in words])
        return
    for word in words:
        if not found[word]:
            show(f"{printable(word, FIELD)!r} holds no word")
        for stem in found[word]:
            _show_stem(word, stem)


def _show_stem(word: str, stem: "StemTranslations") -> None:
    show(f"{printable(word, FIELD)}, stem {printable(stem.stem, FIELD)}")
    for one in stem.translations:
        show(f"  {one.weight:.4f}  {printable(one.stem, FIELD)}")
    if not stem.translations:
        show("  no translation; only the same stem answers it")
