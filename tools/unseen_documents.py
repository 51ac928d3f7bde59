"""Repeats an experiment on documents that training has not seen, by cross-validation, and writes one report on it.

    .venv/bin/python -m tools.unseen_documents configs/experiments/psi_table_6_ntrex_en_fr.yaml runs/unseen/ntrex_en_fr

The documents that are relevant to the same query stay together: groups of documents without a common query are divided
among the folds. In a fold no train or eval list holds its documents, relevant or not, and the test split has only the
queries of its MR documents, with their whole lists. Each test query is thus ranked once, by a model whose training has
seen none of its relevant documents. The report covers the test queries of all folds; baselines' parameters and fitted
weights come from each fold's own eval split.
"""

import hashlib
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import yaml

from components.wikiclir_example_gen.dividing import DocumentGroups
from pipeline.config import RunConfig
from pipeline.input_files import digest_of
from pipeline.layout import CELLS_ARCHIVE, REPORT_FILE
from pipeline.settings_file import read_settings_file
from schemas.evaluation import (
    BASELINES_FILE,
    CHANNELS_FILE,
    PER_QUERY_FILE,
    QRELS_FILE,
    EvaluationReport,
    QueryMetrics,
)
from schemas.provenance import PROVENANCE_FILE
from schemas.search_report import SEARCH_FILE
from smooth_clir.experiments.cell import Cell
from smooth_clir.experiments.experiment import Experiment, read_experiment
from smooth_clir.experiments.report.archive import archive
from smooth_clir.experiments.report.claims import comparisons, judge
from smooth_clir.experiments.report.markdown import listing
from smooth_clir.experiments.report.results import results
from smooth_clir.experiments.report.summary import summary
from smooth_clir.experiments.report.write_report import conditions
from smooth_clir.experiments.settings import SEED, ExperimentSettings
from tools.linked_documents import read_rows

_Lists = Mapping[str, Sequence[tuple[str, int, str]]]
"""Each query's listed documents with grade and split, in the order of the file."""


def lists_of(candidates: Path) -> _Lists:
    """Reads fixed lists."""
    lists: dict[str, list[tuple[str, int, str]]] = {}
    for query_id, doc_id, grade, split in read_rows(candidates):
        lists.setdefault(query_id, []).append((doc_id, int(grade), split))
    return lists


def fold_of_documents(lists: _Lists, folds: int) -> dict[str, int]:
    """Each relevant document to its fold; the folds take groups in turn, in the order of a hash.

    Example:
      >>> lists = {"q1": [("d1", 2, "train"), ("d2", 1, "train")], "q2": [("d3", 2, "test"), ("d1", 0, "test")]}
      >>> folds = fold_of_documents(lists, 2)
      >>> folds["d1"] == folds["d2"] != folds["d3"]
      True
    """
    groups = DocumentGroups()
    for listed in lists.values():
        groups.join([doc_id for doc_id, grade, _ in listed if grade])
    units = groups.units()
    in_order = sorted({*units.values()}, key=lambda unit: hashlib.sha256(unit.encode()).digest())
    fold = {unit: index % folds for index, unit in enumerate(in_order)}
    return {doc_id: fold[unit] for doc_id, unit in units.items()}


def lists_without(lists: _Lists, held_out: set[str], top_grade: int) -> Iterator[tuple[str, str, int, str]]:
    """Yields the lists of a fold, row by row.

    Args:
      lists: the lists of all queries.
      held_out: the fold's documents.
      top_grade: the grade of MR documents.
    """
    for query_id, listed in lists.items():
        is_test = listed[0][2] == "test"
        min_grade = top_grade if is_test else 1
        is_in_fold = any(doc_id in held_out for doc_id, grade, _ in listed if grade >= min_grade)
        if is_in_fold == is_test:
            kept = listed if is_test else [row for row in listed if row[0] not in held_out]
            yield from ((query_id, doc_id, grade, split) for doc_id, grade, split in kept)


def pooled(experiments: Sequence[Experiment], folder: Path) -> Experiment:
    """The folds as one experiment: every cell with the test queries of all folds, and no training of its own.

    Args:
      experiments: the experiments of the folds, with the same cells; at least one.
      folder: the folder for the files with the metrics of each query.
    """
    cells = tuple(_pooled_cell(cells, folder) for cells in zip(*(fold.cells for fold in experiments), strict=True))
    return replace(experiments[0], cells=cells)


def _pooled_cell(cells: Sequence[Cell], folder: Path) -> Cell:
    reports = [cell.evaluation for cell in cells if cell.evaluation]
    cell_folder = folder / cells[0].name
    cell_folder.mkdir(parents=True, exist_ok=True)
    for name in (PER_QUERY_FILE, BASELINES_FILE, CHANNELS_FILE):
        parts = [QueryMetrics.from_tsv((cell.folder / name).read_text(encoding="utf-8")) for cell in cells]
        ids = [query_id for part in parts for query_id in part.query_ids]
        values = {key: [value for part in parts for value in part.values[key]] for key in parts[0].values}
        (cell_folder / name).write_text(QueryMetrics(ids, values).to_tsv(), encoding="utf-8")
    (cell_folder / QRELS_FILE).write_bytes(b"".join((cell.folder / QRELS_FILE).read_bytes() for cell in cells))
    weights = [report.queries for report in reports]

    def means(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
        return {key: float(np.average([part[key] for part in parts], weights=weights)) for key in parts[0]}

    def named(parts: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, float]]:
        return {name: means([part[name] for part in parts]) for name in parts[0]}

    evaluation = EvaluationReport(
        split="test",
        queries=sum(weights),
        queries_without_relevant_document=sum(report.queries_without_relevant_document for report in reports),
        paper_names=reports[0].paper_names,
        metrics=means([report.metrics for report in reports]),
        reachable=means([report.reachable for report in reports]),
        baselines=named([report.baselines for report in reports]),
        channels=named([report.channels for report in reports]),
    )
    searches = [cell.search for cell in cells if cell.search]
    search = None
    if len(searches) == len(cells):
        update = {
            "queries": sum(weights),
            "metrics": means([search.metrics for search in searches]),
            "channels": named([search.channels for search in searches]),
            "baselines": named([search.baselines for search in searches]),
            "comparisons": (),
        }
        search = searches[0].model_copy(update=update)
        (cell_folder / SEARCH_FILE).write_text(search.to_json(), encoding="utf-8")
    return replace(cells[0], folder=cell_folder, evaluation=evaluation, search=search, training=None, stability=None)


def report_text(experiment: Experiment, folds: int) -> str:
    """The report on the pooled folds: a summary, conditions, results, and the experiment file."""
    measured = f" Measured with {experiment.provenance.commit_text()}." if experiment.provenance else ""
    protocol = (
        f"Collection: {experiment.collection}. Test documents that training has not seen: {folds} folds of groups of "
        "documents that no query joins. Lists of train and eval hold no document of the fold; the test queries are "
        "those whose MR documents lie in it. The figures are means over the test queries of all folds, each of which "
        "is ranked once. Parameters of baselines, and fitted weights, are those of each fold's own eval split, whose "
        f"documents training has seen.{measured}"
    )
    parts = [f"# {experiment.title}, on unseen documents", protocol]
    judged = judge(experiment)
    sections = {
        "Summary": summary(experiment, judged),
        "What was run": conditions(experiment.rows),
        "Verdicts": comparisons(judged),
        "Results": results(experiment),
        "To repeat it": [listing("The experiment file", experiment.file)],
    }
    for title, blocks in sections.items():
        parts += [f"## {title}", *blocks]
    return "\n\n".join(parts) + "\n"


def _fold_experiment(
    content: Mapping[str, Any], run: Mapping[str, Any], seeds: int, candidates: Path, output: Path
) -> str:
    """The text of a fold's experiment file."""
    grid = {**content["grid"], SEED: content["grid"][SEED][:seeds]}
    fold_run = {**run, "data": {**run["data"], "candidates": str(candidates)}}
    changed = {**content, "run": fold_run, "grid": grid, "output": str(output)}
    return yaml.safe_dump(changed, sort_keys=False, allow_unicode=True)


@click.command(help=(__doc__ or "").partition("\n\n")[0])
@click.argument("experiment", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("output", type=click.Path(file_okay=False, path_type=Path))
@click.option("--folds", default=5, show_default=True, type=click.IntRange(2), help="Number of folds.")
@click.option("--seeds", default=1, show_default=True, type=click.IntRange(1), help="Number of the grid's seeds.")
def main(experiment: Path, output: Path, folds: int, seeds: int) -> None:
    """Runs the folds, each with `clir experiment`, and writes the report."""
    content, _, faults = read_settings_file(str(experiment), ExperimentSettings)
    if not isinstance(content.get("run"), str):
        raise click.ClickException(f"{experiment}: run must be the path of a run's file; got {content.get('run')!r}.")
    run, _, run_faults = read_settings_file(str(experiment.parent / content["run"]), RunConfig)
    if faults or run_faults:
        raise click.ClickException("\n".join([*faults, *run_faults]))
    if not run.get("data", {}).get("candidates"):
        raise click.ClickException(f"{experiment}: the run must have fixed lists (data.candidates); got none.")
    if output.is_dir() and any(output.iterdir()) and not (output / "fold_1").is_dir():
        raise click.ClickException(f"{output}: must be empty, or the folder of earlier folds; choose another.")
    lists = lists_of(Path(run["data"]["candidates"]))
    fold_of = fold_of_documents(lists, folds)
    output = output.absolute()
    experiments = []
    for fold in range(folds):
        folder = output / f"fold_{fold + 1}"
        folder.mkdir(parents=True, exist_ok=True)
        held_out = {doc_id for doc_id, document_fold in fold_of.items() if document_fold == fold}
        rows = lists_without(lists, held_out, run["data"].get("top_grade", 2))
        candidates = folder / "candidates.tsv"
        candidates.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
        file = folder / "experiment.yaml"
        file.write_text(_fold_experiment(content, run, seeds, candidates, folder / "cells"), encoding="utf-8")
        click.echo(f"fold {fold + 1} of {folds}: {len(held_out):,} documents held out")
        command = [sys.executable, "-m", "smooth_clir", "experiment", str(file)]
        subprocess.run(command, check=True)
        experiments.append(read_experiment(folder / "cells"))
    whole = replace(pooled(experiments, output / "pooled"), file=experiment.read_text(encoding="utf-8"))
    (output / CELLS_ARCHIVE).write_bytes(archive(whole))
    if record := whole.provenance:
        # The lists of a fold are made from the run's lists.
        data = {**record.data, "data.candidates": digest_of(run["data"]["candidates"])}
        (output / PROVENANCE_FILE).write_text(record.model_copy(update={"data": data}).to_json(), encoding="utf-8")
    report = output / REPORT_FILE
    report.write_text(report_text(whole, folds), encoding="utf-8")
    click.echo(f"report: {report}")


if __name__ == "__main__":
    main()
