"""The command line: `clir`. Heavy libraries are imported only by the command that needs them."""

import gc
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import click

from components.wikiclir_example_gen.settings import DataSettings
from models.theory.unreachable import unreachable
from pipeline.config import RunConfig, load_config, output_fault, resolve_digests
from pipeline.documents import read_documents
from pipeline.input_files import check_input_files
from pipeline.layout import CELLS, TENSORBOARD
from pipeline.model_folder import find_model
from pipeline.run_lock import run_lock
from pipeline.stages import StageEnd
from pipeline.summary import describe_files, describe_summary, metrics_table, run_summary, short
from pipeline.users_error import users_error
from schemas.errors import ConfigError, DataError
from schemas.features import SPLITS


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
    started = time.monotonic()
    stages: list[StageEnd] = []
    with StageView() as view:
        for sentence in unreachable(settings.model, settings.loss):
            view.say(f"warning: {sentence}")
        view.start(0, 0, "loading TFX")

        def end(stage: StageEnd) -> None:
            stages.append(stage)
            view.end(stage)

        try:
            with _imports():
                from pipeline.local_runner import run_locally

            result = run_locally(settings, view.start, end)
        finally:
            summary = run_summary(stages, time.monotonic() - started)
            view.say(describe_summary(summary))
        from components.wikiclir_example_gen.report import describe_report

        view.say(f"{settings.data.query_language} queries, {settings.data.document_language} documents")
        for line in describe_report(result.data_report):
            view.say(line)
        if result.cached:
            view.say("every stage came from the cache: inputs, settings and code are those of an earlier run")
    if as_json:
        parts = {"verdict": result.verdict, "data": result.data_report, "pushed": result.pushed, "summary": summary}
        if result.tuning:
            parts["tuning"] = result.tuning
        click.echo(json.dumps({**result.report, **parts}, indent=2))
    else:
        click.echo(metrics_table(result.report))
    click.echo("\n".join([f"written to {short(settings.output)}:", *describe_files(Path(settings.output))]), err=True)
    if result.tuning:
        from pipeline.tuning_report import describe_best

        click.echo(describe_best(result.tuning), err=True)
    if result.pushed is None:
        raise DataError(f"the model was not pushed: {result.verdict['reason']}.")
    click.echo(f"pushed to {short(result.pushed)}: {result.verdict['reason']}", err=True)
    _say_next(settings)


@clir.command()
@click.argument("file", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def experiment(file: str, as_json: bool) -> None:
    """Run every cell of the grid that FILE describes, and report on them.

    All cells share one prepared data set. A cell that fails fails alone; the same command again runs those that are
    not done.

    Example: clir experiment configs/experiments/sample.yaml
    """
    from pipeline.experiment.load import load_experiment

    loaded = load_experiment(file)
    with run_lock(loaded.output):
        from pipeline.experiment.cell_folder import CellFolder
        from pipeline.experiment.run import run_experiment
        from pipeline.experiment.table import results_table
        from pipeline.progress import StageView, quieten

        quieten(verbose=False)
        with StageView() as view:
            states = run_experiment(loaded, view)
            view.start(0, 0, "writing the report")
            with _imports():
                from pipeline.report.write import HTML_FILE, write_report

            write_report(loaded.output)
        metrics = {
            state.name: CellFolder(loaded.output, cell).metrics()
            for cell, state in zip(loaded.cells, states, strict=True)
            if state.status == "done"
        }
    report = str(loaded.output / HTML_FILE)
    if as_json:
        cells = [{**asdict(state), "metrics": metrics.get(state.name)} for state in states]
        click.echo(json.dumps({"title": loaded.settings.title, "report": report, "cells": cells}, indent=2))
    else:
        click.echo(f"{results_table(states, metrics)}\nreport: {short(report)}")
    if failed := [state for state in states if state.status == "failed"]:
        raise DataError(
            f"{len(failed)} of {len(states)} cells failed; cell.json and log.txt in "
            f"{short(str(loaded.output / CELLS))} tell why, and the same command runs them again."
        )


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
    with _imports():
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


@clir.command()
@click.argument("model", type=click.Path())
@click.option("--queries", required=True, metavar="FILE", help="Queries: id, title, text.")
@click.option("--documents", required=True, metavar="FILE", help="Documents: id, title, text.")
@click.option("--candidates", required=True, metavar="FILE", help="Lists: query id, document id, grade, split.")
@click.option("--split", default="test", show_default=True, type=click.Choice(SPLITS), help="Whose lists count.")
@click.option(
    "--top-grade", default=2, show_default=True, type=click.IntRange(min=1), help="The grade of MR documents."
)
@click.option("--output", metavar="FOLDER", help="Write metrics.json, run.trec and qrels.trec there.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def evaluate(
    model: str,
    queries: str,
    documents: str,
    candidates: str,
    split: str,
    top_grade: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Evaluate an exported MODEL on any collection with fixed lists.

    MODEL is a run's output folder, its serving folder, or one version in it.

    Example: clir evaluate runs/en_es --queries en.queries --documents es.documents --candidates en2es.candidates
    """
    path = find_model(model)
    paths = {"queries": queries, "documents": documents, "candidates": candidates}
    faults = [f"--{role}: {fault}" for role, fault in check_input_files(paths)]
    if output and (fault := output_fault(Path(output))):
        faults.append(f"--output: {fault}")
    if faults:
        raise ConfigError(faults)
    from pipeline.progress import StageView, quieten

    quieten(verbose=False)
    with StageView() as view:
        view.start(0, 0, "evaluating")
        with _imports():
            from components.wikiclir_example_gen.report import describe_report
            from pipeline.evaluation import evaluate_model

        max_bad_share = DataSettings.model_fields["max_bad_share"].default
        result, data_report = evaluate_model(path, paths, split, top_grade, max_bad_share)
        for line in describe_report(data_report):
            view.say(line)
    if output:
        Path(output).mkdir(parents=True, exist_ok=True)
        for name, content in result.files().items():
            (Path(output) / name).write_text(content, encoding="utf-8")
    click.echo(
        json.dumps({**result.report, "data": data_report}, indent=2) if as_json else metrics_table(result.report)
    )


@clir.command()
@click.argument("folder", type=click.Path())
def report(folder: str) -> None:
    """Write the report of the experiment in FOLDER anew.

    Tables, tests and figures come from what the cells left; no model is trained or asked.

    Example: clir report runs/losses
    """
    from pipeline.progress import quieten

    quieten(verbose=False)
    with _imports():
        from pipeline.report.write import HTML_FILE, MARKDOWN_FILE, write_report

    write_report(Path(folder))
    click.echo(f"written to {short(folder)}: {HTML_FILE}, {MARKDOWN_FILE}", err=True)


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


@contextmanager
def _imports() -> Iterator[None]:
    """Around imports of the large libraries: they make 600,000 objects that stay.

    To look among them for garbage, again and again, would take three seconds of twelve.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _say_next(settings: RunConfig) -> None:
    output, documents = short(settings.output), short(settings.data.documents)
    click.echo(
        f"""
next:
  clir rank {output} --query "..." --documents {documents}
  tensorboard --logdir {output}/{TENSORBOARD}""",
        err=True,
    )


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
        cause = users_error(error)
        if cause is None:
            raise
        for line in str(cause).splitlines():
            click.echo(f"clir: {line}", err=True)
        sys.exit(2 if isinstance(cause, ConfigError) else 1)
