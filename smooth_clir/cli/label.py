"""`clir label`: makes pairs for a lexicon from queries without judgments."""

import hashlib
import json
from pathlib import Path
from typing import Final

import click

from pipeline.input_files import file_fault, sha256_of_file
from pipeline.output_folder import write_atomically
from pipeline.output_path import local_fault
from schemas.errors import ConfigError, DataError
from schemas.json_files import parse_json
from smooth_clir.cli.arguments import index_option, json_option, model_argument, number
from smooth_clir.cli.documents import read_texts
from smooth_clir.cli.imports import heavy_imports
from smooth_clir.cli.model_folder import engines_of, find_index
from smooth_clir.cli.terminal import StageView, for_shell, say, short, show, show_json

_ACCOUNT_ENDING: Final = ".json"
_DIGEST: Final = "sha256"
"""The report's key of the digest of the pairs."""
_REPLACED: Final = "replaced_sha256"
"""The report's key of the digest of the pairs that were replaced, if there were any."""


@click.command()
@model_argument
@click.option("--queries", metavar="FILE", required=True, help="Queries: id, text, in any form of docs/formats.md.")
@click.option(
    "--share",
    default=0.67,
    show_default=True,
    type=click.FloatRange(min=0, max=1, min_open=True),
    callback=number,
    help="Share of the queries to label.",
)
@click.option("--output", metavar="PAIRS", required=True, help="The file of pairs; a report goes to PAIRS.json.")
@index_option
@json_option
def label(model: str, queries: str, share: float, output: str, index: str | None, as_json: bool) -> None:
    """Label queries without judgments by searching the index of a MODEL, for `channels.lexicon.pairs`.

    A query's margin is the score of its first result less that of the second; only the share of queries with the
    largest margins is kept. A model trained again with these pairs knows the collection's words: see docs/domains.md.

    MODEL is a run's output folder, its serving folder, or a version in it.

    Example: clir label runs/sample --queries queries.tsv --output pairs.tsv
    """
    path, account = Path(output), Path(f"{output}{_ACCOUNT_ENDING}")
    faults = [f"--queries: {fault}"] if (fault := file_fault(queries)) else []
    if fault := local_fault(output, "file") or local_fault(str(account), "file") or _output_fault(path, account):
        faults.append(f"--output: {fault}")
    if faults:
        raise ConfigError(faults)
    location = find_index(model, index)
    items = read_texts("queries", queries)
    with heavy_imports():
        from smooth_clir.serving.label_queries import label_queries

    with StageView() as view:
        view.start(0, 0, "labelling")
        engines, newest = engines_of(location)
        engine = engines.load(newest)
        if engine.model_version != (version := Path(location.newest_model).name):
            raise DataError(
                f"the index must be of the newest model, {version}; got {engine.model_version}. Make it again with "
                f"`{location.command}`."
            )
        labels = label_queries(items, queries, engine, share)
    text = "".join(f"{pair}\n" for pair in labels.pairs)
    content = {
        **labels.as_dict(),
        _DIGEST: hashlib.sha256(text.encode()).hexdigest(),
        # Written before the pairs, because a kill in between leaves the former pairs.
        _REPLACED: sha256_of_file(output) if path.exists() else None,
    }
    write_atomically(account, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    write_atomically(path, text)
    if as_json:
        show_json({**content, "output": output})
        return
    show("\n".join(labels.describe()))
    say(f"written to {short(output)}; train again with --set channels.lexicon.pairs={for_shell(output)}")


def _output_fault(pairs: Path, account: Path) -> str | None:
    """Returns why the file of pairs must not be written, or None; files of `clir label` may be replaced."""
    try:
        content = parse_json(account.read_text(encoding="utf-8"))
        ours = content[_DIGEST], content[_REPLACED]
    except (OSError, ValueError, KeyError, TypeError):
        ours = None
    theirs = account if account.exists() and ours is None else None
    if pairs.exists() and sha256_of_file(str(pairs)) not in (ours or ()):
        theirs = pairs
    if theirs:
        return f"{theirs} already exists, and clir label did not write it: choose another name."
    return None
