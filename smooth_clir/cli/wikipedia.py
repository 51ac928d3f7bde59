"""`clir wikipedia`: makes a collection for `clir run` from the dumps of two wikis."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.layout import CONFIG_FILE
from pipeline.output_folder import run_lock
from pipeline.wikipedia.config import load_wikipedia_config
from schemas.wikiclir import CARD_FILE, MANIFEST_FILE
from smooth_clir.cli.arguments import json_option
from smooth_clir.cli.imports import check_extra
from smooth_clir.cli.terminal import StageView, for_shell, program, say, short, show, show_json

if TYPE_CHECKING:
    from smooth_clir.wikipedia.collection.look import Estimate, Look


@click.command("wikipedia")
@click.argument("config", type=click.Path())
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Override a setting, such as shards=4.")
@click.option(
    "--processes", type=click.IntRange(min=1, max=1000), help="Processes that read the dumps.  [default: one a core]"
)
@click.option("--estimate", is_flag=True, help="Only estimate the time, the disk and the memory.")
@click.option("--check", is_flag=True, help="Only read a part of each dump, and show counts and twenty examples.")
@json_option
def wikipedia(
    config: str, overrides: tuple[str, ...], processes: int | None, estimate: bool, check: bool, as_json: bool
) -> None:
    """Make a collection from the Wikipedia dumps in CONFIG.

    Writes queries, documents and judgments in the format of the WikiCLIR collections, titles that mean the same, a
    manifest, a data card and a configuration for `clir run`.

    Example: clir wikipedia configs/wikipedia/sample.yaml --estimate
    """
    if estimate and check:
        raise click.UsageError("give --estimate or --check, but not both.")
    settings = load_wikipedia_config(config, overrides)
    check_extra("pipeline")
    # Imported late, so that wrong settings are refused without the half second of NumPy and the parsers.
    from pipeline.wikipedia.make import folder_of, make_collections
    from smooth_clir.wikipedia.collection.look import estimate_making, look_into, preflight

    if check:
        _show(look_into(settings.languages(), settings, settings.files()), as_json)
        return
    if estimate:
        _show([estimate_making(settings.languages(), settings, settings.files(), processes)], as_json)
        return
    with run_lock(Path(settings.output)), StageView() as view:
        view.start(0, 0, "looking into dumps")
        preflight(settings.languages(), settings, settings.files(), settings.output, view.say, processes)
        view.start(0, 0, "reading dumps")
        manifests = make_collections(settings, processes, view.say)
    if as_json:
        show_json({"pairs": manifests, "output": settings.output})
        return
    for pair, manifest in manifests.items():
        show("\n".join(_describe(manifest)))
        folder = os.path.normpath(os.path.join(settings.output, folder_of(settings, pair)))
        say(
            f"written to {short(folder)}: {CARD_FILE} describes it, {MANIFEST_FILE} has every count\n\n"
            f"next:\n  {program()} run {for_shell(os.path.join(folder, CONFIG_FILE))}"
        )


def _show(results: "Sequence[Look | Estimate]", as_json: bool) -> None:
    """Prints looks or estimates."""
    if as_json:
        show_json([result.as_dict() for result in results])
    else:
        show("\n".join(line for result in results for line in result.describe()))


def _describe(manifest: dict[str, Any]) -> list[str]:
    """Describes a collection in lines for a person."""
    lines = [f"{manifest['query_language']} queries, {manifest['document_language']} documents"]
    for wiki in manifest["wikis"].values():
        redirects = wiki["redirects"]
        lines.append(f"{wiki['database']}: {_report(wiki['pages'])}")
        lines.append(f"  {wiki['articles']:,} articles, {redirects['used']:,} of {redirects['read']:,} redirects used")
    lines.append(f"pages with queries: {_report(manifest['pages_with_queries'])}")
    lines.append(f"documents: {_report(manifest['documents'])}")
    judgments = ", ".join(f"{count:,} of grade {grade}" for grade, count in manifest["judgments"].items())
    splits = ", ".join(f"{count:,} {split}" for split, count in sorted(manifest["splits"].items()))
    lines.append(f"queries: {manifest['queries']['used']:,} ({splits}); judgments: {judgments}")
    if manifest["title_pairs"]:
        lines.append(f"title pairs: {manifest['title_pairs']:,}, without pages that occur only in eval and test")
    return lines


def _report(content: dict[str, Any]) -> str:
    left_out = "; ".join(f"{drops['count']:,} {drops['meaning']}" for drops in content["drops"])
    return f"{content['read']:,} read, {content['used']:,} used" + (f"; left out: {left_out}" if left_out else "")
