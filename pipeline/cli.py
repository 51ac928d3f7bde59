"""The command line: `clir`. Heavy libraries are imported only by the command that needs them."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from pipeline.config import RunConfig, load_config, resolve_digests
from pipeline.documents import read_documents
from pipeline.layout import TENSORBOARD
from pipeline.model_folder import find_model
from pipeline.run_lock import run_lock
from schemas.errors import ConfigError, DataError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="smooth-clir")
def clir() -> None:
    """Cross-lingual document ranking: train, evaluate and use a model for your own language pair."""


@clir.command()
@click.argument("config", type=click.Path())
@click.option(
    "--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Override a setting, such as training.epochs=3."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Show the logs of TFX, Beam and TensorFlow.")
def run(config: str, overrides: tuple[str, ...], as_json: bool, verbose: bool) -> None:
    """Run the whole pipeline that CONFIG describes.

    Trains, evaluates and pushes a model; stages whose inputs, settings and code have not changed come from the cache.

    Example: clir run configs/sample.yaml --set training.epochs=3
    """
    settings = resolve_digests(load_config(config, overrides))
    with run_lock(Path(settings.output)):
        _run(settings, as_json, verbose)


def _run(settings: RunConfig, as_json: bool, verbose: bool) -> None:
    """Runs the pipeline and prints what came out."""
    from pipeline.progress import StageView, quieten

    quieten(verbose)
    with StageView() as view:
        view.start(0, 0, "loading TFX")
        from pipeline.local_runner import run_locally

        result = run_locally(settings, view.start, view.end)
        from components.wikiclir_example_gen.report import describe_report

        view.say(f"{settings.data.query_language} queries, {settings.data.document_language} documents")
        for line in describe_report(result.data_report):
            view.say(line)
        if result.cached:
            view.say("every stage came from the cache: inputs, settings and code are those of an earlier run")
    if as_json:
        click.echo(json.dumps({**result.report, "data": result.data_report, "pushed": result.pushed}, indent=2))
    else:
        click.echo(_metrics_table(result.report))
    if result.pushed is None:
        raise DataError(f"the model was not pushed: {result.report['reason']}.")
    click.echo(f"pushed to {_short(result.pushed)}: {result.report['reason']}", err=True)
    _say_next(settings)


@clir.command()
@click.argument("model", type=click.Path())
@click.option(
    "--query", "queries", metavar="TEXT", multiple=True, help="A query; without it, one query a line from stdin."
)
@click.option(
    "--documents", required=True, metavar="FILE", help="Documents: id, title, text, tab-separated; - for stdin."
)
@click.option("--top", default=10, show_default=True, type=click.IntRange(min=1), help="Documents to show for a query.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a query.")
def rank(model: str, queries: tuple[str, ...], documents: str, top: int, as_json: bool) -> None:
    """Rank documents for a query with an exported MODEL.

    MODEL is a run's output folder, its serving folder, or one version in it.

    Example: clir rank runs/sample --query "a river of molten rock" --documents data/sample/wiki_fr.documents
    """
    if documents == "-" and not queries:
        raise click.UsageError("queries and documents cannot both come from stdin; give --query.")
    if any(not query.strip() for query in queries):
        raise click.UsageError("--query must hold a word; got an empty text.")
    path = find_model(model)
    texts, drops = read_documents(documents)
    for line in drops:
        click.echo(line, err=True)
    from pipeline.progress import quieten

    quieten(verbose=False)
    from pipeline.rank import DocumentRanker

    ranker = DocumentRanker(path, texts)
    for query in queries or _lines_of_stdin():
        results = ranker.rank(query, top)
        if not results:
            click.echo(f"the model knows no word of the query {query!r}", err=True)
        if as_json:
            click.echo(
                json.dumps({"query": query, "documents": [result._asdict() for result in results]}, ensure_ascii=False)
            )
        else:
            for result in results:
                click.echo(f"{result.rank:3}  {result.score:7.4f}  {result.doc_id}  {result.title}")
            if len(queries) != 1:
                click.echo()


def _lines_of_stdin() -> Iterator[str]:
    """The queries on stdin, one a line."""
    number = 0
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            query = line.decode().strip()
        except UnicodeDecodeError:
            raise DataError(f"stdin:{number}: a query must be UTF-8; got {line[:80]!r}.") from None
        if query:
            yield query
    if number == 0:
        raise click.UsageError("there is no query; give --query, or queries on stdin, one a line.")


def _metrics_table(report: dict[str, Any]) -> str:
    """The metrics of a model beside the floors and what a perfect order reaches."""
    columns = {"model": report["metrics"], **report["floors"], "reachable": report["reachable"]}
    rows = [f"{'test split':12}" + "".join(f"{name:>10}" for name in columns) + "  in the paper"]
    for key, paper_name in report["paper_names"].items():
        rows.append(f"{key:12}" + "".join(f"{values[key]:10.4f}" for values in columns.values()) + f"  {paper_name}")
    return "\n".join([*rows, f"{report['queries']:,} queries"])


def _say_next(settings: RunConfig) -> None:
    output, documents = _short(settings.output), _short(settings.data.documents)
    click.echo(
        f"""
next:
  clir rank {output} --query "..." --documents {documents}
  tensorboard --logdir {output}/{TENSORBOARD}""",
        err=True,
    )


def _short(path: str) -> str:
    """A path relative to the current folder, where it lies in it."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def main() -> None:
    """Runs `clir`. Exits 0 when done, 1 when it failed, 2 on wrong use; only our own bugs print a traceback."""
    try:
        clir.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except Exception as error:
        cause = _users_error(error)
        if cause is None:
            raise
        for line in str(cause).splitlines():
            click.echo(f"clir: {line}", err=True)
        sys.exit(2 if isinstance(cause, ConfigError) else 1)


def _users_error(error: BaseException | None) -> ConfigError | DataError | None:
    """The user's error behind an exception: runners wrap what a stage raises."""
    while error is not None and not isinstance(error, ConfigError | DataError):
        error = error.__cause__ or error.__context__
    return error
