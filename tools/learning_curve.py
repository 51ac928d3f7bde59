"""Measures what a collection gives with few pairs, and writes a report with a picture.

    .venv/bin/python -m tools.learning_curve configs/experiments/few_pairs_ntrex_en_fr.yaml runs/few_pairs/ntrex_en_fr

For each number and each seed of the experiment's grid, that many queries are drawn from those of the train and the eval
split, three to train on for each to fit on; the test split is whole. The pairs of a smaller number are among those of a
larger one. The first variant of the experiment gives the curves of its channels and baselines, which share its lists.
"""

import hashlib
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click
import numpy as np
import yaml
from matplotlib.figure import Figure

from components.training_report.svg import draw, line_style, share_legend
from pipeline.config import RunConfig
from pipeline.layout import REPORT_FILE
from pipeline.settings_file import read_settings_file
from schemas.evaluation import EvaluationReport
from smooth_clir.experiments.experiment import read_experiment
from smooth_clir.experiments.settings import SEED, VARIANT, ExperimentSettings
from tools.unseen_documents import lists_of

PAIRS: Final = (10, 30, 100, 300, 1000, 3000)
METRICS: Final = {"ndcg_5": "NDCG@5", "p_mr_1": "P_mr@1"}
PICTURE: Final = "few_pairs.svg"
_EVAL_SHARE: Final = 4
_SYSTEMS: Final = {
    "bm25": "BM25",
    "translated_bm25": "machine translation, BM25",
    "smooth_cosine": "vectors alone",
    "lexicon": "lexicon alone",
    "encoder": "encoder alone",
}
"""Channels and baselines to their names in the report."""

_Figures = Mapping[str, Mapping[int, Sequence[Mapping[str, float]]]]
"""The metrics of each seed, by system and number of pairs."""


def drawn_queries(splits: Mapping[str, str], pairs: int, seed: int) -> set[str]:
    """Returns the queries of the train and the eval split that are drawn.

    Args:
      splits: the split of each query.
      pairs: their number; one in four is of the eval split.
      seed: the seed of the draw.

    Example:
      >>> splits = {str(number): "eval" if number % 5 == 0 else "train" for number in range(50)}
      >>> few, more = (drawn_queries(splits, pairs, 1) for pairs in (8, 20))
      >>> few < more, len(few), sum(splits[query_id] == "eval" for query_id in few)
      (True, 8, 2)
    """

    def order(query_id: str) -> bytes:
        return hashlib.sha256(f"{seed} {query_id}".encode()).digest()

    to_fit = max(1, round(pairs / _EVAL_SHARE))
    drawn: set[str] = set()
    for split, number in (("train", pairs - to_fit), ("eval", to_fit)):
        query_ids = sorted((query_id for query_id, own in splits.items() if own == split), key=order)
        drawn.update(query_ids[:number])
    return drawn


def systems(variant: str, is_first: bool, evaluation: EvaluationReport) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yields the systems of a cell with their metrics: the model, and its channels and baselines that are shown."""
    yield variant, evaluation.metrics
    parts = {**evaluation.baselines, **evaluation.channels} if is_first else evaluation.channels
    for name, label in _SYSTEMS.items():
        if name in parts and (is_first or name == "encoder"):
            yield label, parts[name]


def report_text(title: str, figures: _Figures, protocol: str) -> str:
    """The report: a table of each metric, a column for each number of pairs, and the picture."""
    numbers = sorted({pairs for by_pairs in figures.values() for pairs in by_pairs})
    parts = [f"# {title}", protocol, f"![NDCG@5 by the number of pairs]({PICTURE})"]
    for metric, name in METRICS.items():
        rows = [f"| {name} | {' | '.join(f'{pairs:,}' for pairs in numbers)} |", f"| --- |{' ---: |' * len(numbers)}"]
        for system, by_pairs in figures.items():
            cells = (_cell([report[metric] for report in by_pairs[pairs]]) for pairs in numbers)
            rows.append(f"| {system} | {' | '.join(cells)} |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts) + "\n"


def _cell(values: Sequence[float]) -> str:
    """The mean over the seeds, and half the range."""
    return f"{np.mean(values):.3f} ± {np.ptp(values) / 2:.3f}".replace("0.", ".")


def picture(title: str, figures: _Figures) -> str:
    """The picture as an SVG file's text: NDCG@5 by the number of pairs, a line for each system."""

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for number, (system, by_pairs) in enumerate(figures.items()):
            means = [np.mean([report["ndcg_5"] for report in by_pairs[pairs]]) for pairs in by_pairs]
            axes.plot([*by_pairs], means, label=system, markersize=4, **line_style(number))
        numbers = sorted({pairs for by_pairs in figures.values() for pairs in by_pairs})
        axes.set_xscale("log")
        axes.set_xticks(numbers, [f"{pairs:,}" for pairs in numbers], minor=False)
        axes.set_xticks([], minor=True)
        axes.set_xlabel("pairs of a query and its document")
        axes.set_ylabel("NDCG@5")
        share_legend(figure, axes, tuple(figures))

    return draw("few_pairs", title, "", (7, 4.5), paint).file


@click.command(help=(__doc__ or "").partition("\n\n")[0])
@click.argument("experiment", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("output", type=click.Path(file_okay=False, path_type=Path))
def main(experiment: Path, output: Path) -> None:
    """Runs an experiment for each number and seed with `clir experiment`, and writes the report."""
    content, _, faults = read_settings_file(str(experiment), ExperimentSettings)
    run, _, run_faults = read_settings_file(str(experiment.parent / str(content.get("run"))), RunConfig)
    if faults or run_faults:
        raise click.ClickException("\n".join([*faults, *run_faults]))
    if not run.get("data", {}).get("candidates"):
        raise click.ClickException(f"{experiment}: the run must have fixed lists (data.candidates); got none.")
    lists = lists_of(Path(run["data"]["candidates"]))
    splits = {query_id: listed[0][2] for query_id, listed in lists.items()}
    at_hand = sum(split != "test" for split in splits.values())
    figures: dict[str, dict[int, list[Mapping[str, float]]]] = defaultdict(lambda: defaultdict(list))
    numbers = [pairs for pairs in PAIRS if pairs <= at_hand]
    commits = set()
    for seed in content["grid"][SEED]:
        for pairs in numbers:
            folder = output.absolute() / f"{pairs}_{seed}"
            folder.mkdir(parents=True, exist_ok=True)
            drawn = drawn_queries(splits, pairs, seed)
            kept = (query_id for query_id, split in splits.items() if split == "test" or query_id in drawn)
            rows = ((query_id, *map(str, row)) for query_id in kept for row in lists[query_id])
            candidates = folder / "candidates.tsv"
            candidates.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
            changed = {
                **content,
                "run": {**run, "data": {**run["data"], "candidates": str(candidates)}},
                "grid": {**content["grid"], SEED: [seed]},
                "output": str(folder / "cells"),
            }
            file = folder / "experiment.yaml"
            file.write_text(yaml.safe_dump(changed, sort_keys=False, allow_unicode=True), encoding="utf-8")
            click.echo(f"{pairs:,} pairs, seed {seed}")
            subprocess.run([sys.executable, "-m", "smooth_clir", "experiment", str(file)], check=True)
            result = read_experiment(folder / "cells")
            commits.add(result.provenance.commit_text() if result.provenance else "an unknown commit")
            for number, cell in enumerate(result.cells):
                if cell.evaluation:
                    for system, metrics in systems(str(cell.settings[VARIANT]), number == 0, cell.evaluation):
                        figures[system][pairs].append(metrics)
    protocol = (
        f"Of {at_hand:,} queries with judgments, which the collection has for training and for fitting, as many as a "
        f"column says, one in four of them to fit on. Means over {len(content['grid'][SEED])} seeds, of the draw and "
        "of the training, ± half the range. Test split whole; its documents may occur in training, with other "
        f"queries. Measured with {', '.join(sorted(commits))}."
    )
    (output / PICTURE).write_text(picture(content["title"], figures), encoding="utf-8")
    (output / REPORT_FILE).write_text(report_text(content["title"], figures, protocol), encoding="utf-8")
    click.echo(f"report: {output / REPORT_FILE}")


if __name__ == "__main__":
    main()
