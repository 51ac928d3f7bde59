"""`clir lexicon`: shows the translations in a model's lexicon, or writes them all to a file."""

from pathlib import Path

import click

from cli.arguments import check_query_text, json_option, model_argument
from cli.imports import heavy_imports
from cli.model_folder import find_model
from cli.terminal import FIELD, for_shell, say, short, show, show_json
from pipeline.output_folder import write_atomically
from pipeline.output_path import write_fault
from schemas.errors import ConfigError
from schemas.lexicon_pairs import EXPORT_ENDINGS, TextPair, format_pairs
from schemas.wording import printable


@click.command()
@model_argument
@click.option("--word", "words", metavar="WORD", multiple=True, help="A word of a query; repeatable.")
@click.option(
    "--export", metavar="FILE", help=f"Instead of words: a file for all translations, {', '.join(EXPORT_ENDINGS)}."
)
@json_option
def lexicon(model: str, words: tuple[str, ...], export: str | None, as_json: bool) -> None:
    """Show the translations of query words in the lexicon of an exported MODEL, best first, or write them all.

    Each word is shown with its stem, the document stems that answer it, and the weight of each. The same stem always
    answers it, with the weight 1. --export writes the stems and weights of the whole lexicon, to be read by
    lexicon.pairs or, as JSON, by fast_psq.

    MODEL is a run's output folder, its serving folder, or one version in it.

    Example: clir lexicon runs/sample --word cat --word river
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


def _export(model: str, export: str, as_json: bool) -> None:
    """Writes all translations of a model to a file."""
    if fault := _fault(Path(export)):
        raise ConfigError([f"--export: {fault}"])
    path = find_model(model)
    with heavy_imports():
        from models.exported.model import LoadedModel

    found = LoadedModel(path).all_translations()
    pairs = [TextPair(query, document, weight) for (query, document), weight in found.items()]
    write_atomically(Path(export), format_pairs(pairs, export))
    terms = len({one.query for one in pairs})
    if as_json:
        show_json({"output": export, "translations": len(pairs), "query_terms": terms})
        return
    show(f"{len(pairs):,} translations of {terms:,} query stems")
    say(f"written to {short(export)}; train with them: --set lexicon.pairs={for_shell(export)}")


def _fault(path: Path) -> str | None:
    """Returns the reason why a table cannot be written, or None."""
    if not path.name.lower().endswith(EXPORT_ENDINGS):
        return f"must end in {', '.join(EXPORT_ENDINGS)}, which say the form of the table; got {path}."
    if path.is_dir():
        return f"must be a file; {path} is a folder."
    if not path.absolute().parent.is_dir():
        return f"the folder {path.parent} must be there; make it, or choose another."
    if fault := write_fault(path.absolute().parent):
        return f"the folder of {path} {fault}"
    if path.exists():
        return f"there must be no such file yet; {path} is there: choose another name, or remove it."
    return None
