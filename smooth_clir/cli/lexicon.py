"""`clir lexicon`: shows the translations in a model's lexicon, or writes them all to a file."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.output_folder import write_atomically
from pipeline.output_path import local_fault
from schemas.errors import ConfigError
from schemas.lexicon_pairs import EXPORT_ENDINGS, TextPair, format_pairs
from schemas.wording import printable
from smooth_clir.cli.arguments import check_query_text, json_option, model_argument
from smooth_clir.cli.imports import heavy_imports
from smooth_clir.cli.model_folder import find_model
from smooth_clir.cli.terminal import FIELD, for_shell, say, short, show, show_json

if TYPE_CHECKING:
    from models.exported.lexicon import StemTranslations


@click.command()
@model_argument
@click.option("--word", "words", metavar="WORD", multiple=True, help="A word of a query; repeatable.")
@click.option(
    "--export", metavar="FILE", help=f"Instead of words: a file for all translations, {', '.join(EXPORT_ENDINGS)}."
)
@json_option
def lexicon(model: str, words: tuple[str, ...], export: str | None, as_json: bool) -> None:
    """Show the translations of query words in the lexicon of an exported MODEL, best first, or write them all.

    Each word is shown with its stem, the document stems that match it, and their weights. The equal stem always
    matches, with the weight 1. A document stem is shown as its most frequent words in the training's documents.
    --export writes the stems and weights of the whole lexicon, for channels.lexicon.pairs or, as JSON, for fast_psq.

    In kana, Thai, Lao, Khmer and Burmese a stem is a pair of neighbouring characters. Overlapping pairs with similar
    weights are shown as a single text; --json has the pairs.

    MODEL is a run's output folder, its serving folder, or a version in it.

    Example: clir lexicon runs/sample --word wolf --word rock
    """
    if bool(words) == (export is not None):
        raise click.UsageError("give --word or --export, and not both.")
    if export is not None:
        _export(model, export, as_json)
        return
    for word in words:
        check_query_text("--word", word)
    path = find_model(model)
    with heavy_imports():
        from models.exported.loading import expect_few_calls
        from models.exported.model import LoadedModel

    expect_few_calls()
    ranker = LoadedModel(path)
    translations = ranker.translations(words)
    if as_json:
        show_json([{"word": word, "stems": [stem.model_dump() for stem in translations[word]]} for word in words])
        return
    for word in words:
        for line in _lines(word, translations[word], ranker.is_segmented):
            show(line)


def _lines(word: str, stems: "Sequence[StemTranslations]", is_segmented: bool) -> Iterator[str]:
    """Yields the lines of a word: its stems, and the translations of each."""
    shown, names = printable(word, FIELD), [printable(stem.stem, FIELD) for stem in stems]
    if not stems:
        yield f"{shown!r} holds no word"
    elif len(stems) == 1:
        yield f"{shown}, stem {names[0]}"
        yield from _translations(stems[0], "  ", is_segmented)
    else:
        yield f"{shown}, stems {', '.join(names)}"
        for stem, name in zip(stems, names, strict=True):
            yield f"  {name}"
            yield from _translations(stem, "    ", is_segmented)


def _translations(stem: "StemTranslations", indent: str, is_segmented: bool) -> Iterator[str]:
    """Yields a line for the equal stem, and for each translation, with the words that have its stem."""
    from models.texts.joined_pairs import join_pairs

    def line(text: str, weight: float, words: Sequence[str]) -> str:
        return f"{indent}{weight:.4f}  {printable(', '.join(words) or text, FIELD)}"

    if stem.is_known is False:
        yield f"{indent}unknown word: no training query has it; only the same word matches"
        return
    yield line(stem.equal.stem, stem.equal.weight, stem.equal.words) + " (equal stem)"
    words = {translation.stem: translation.words for translation in stem.translations}
    answers = [(translation.stem, translation.weight) for translation in stem.translations]
    # In a segmented text, two characters are a word, not a pair.
    for text, weight in answers if is_segmented else join_pairs(answers):
        yield line(text, weight, words.get(text, ()))
    if not answers:
        yield f"{indent}no translation was learned; only words with the equal stem match"


def _export(model: str, export: str, as_json: bool) -> None:
    """Writes all translations of a model to a file."""
    if fault := _fault(export):
        raise ConfigError([f"--export: {fault}"])
    path = find_model(model)
    with heavy_imports():
        from models.exported.model import LoadedModel

    translations = LoadedModel(path).all_translations()
    pairs = [TextPair(query, document, weight) for (query, document), weight in translations.items()]
    write_atomically(Path(export), format_pairs(pairs, export))
    terms = len({pair.query for pair in pairs})
    if as_json:
        show_json({"output": export, "translations": len(pairs), "query_terms": terms})
        return
    show(f"{len(pairs):,} translations of {terms:,} query stems")
    say(f"written to {short(export)}; train with them: --set channels.lexicon.pairs={for_shell(export)}")


def _fault(export: str) -> str | None:
    """Returns the reason why a table cannot be written, or None."""
    if not export.lower().endswith(EXPORT_ENDINGS):
        return f"must end in {' or '.join(EXPORT_ENDINGS)}; got {export!r}."
    if fault := local_fault(export, "file"):
        return fault
    if os.path.exists(export):
        return f"{export} already exists: choose another name, or remove it."
    return None
