"""Reports an experiment's results, in the form of the paper's Tables 2 and 3, and their tests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import mean, stdev
from typing import Final, NamedTuple

from models.evaluation.metrics import METRICS, SEARCH_METRICS
from models.evaluation.significance import Comparison
from smooth_clir.experiments.experiment import Experiment, Row
from smooth_clir.experiments.report.domains import domain_blocks
from smooth_clir.experiments.report.markdown import NOTHING, Entry, paragraph, table
from smooth_clir.experiments.report.names import baseline_name, setting_name, settings_label, value_name
from smooth_clir.experiments.report.published import published_blocks
from smooth_clir.experiments.report.significance import (
    BOUND_NOTE,
    SIGNIFICANCE,
    compare,
    reference_rows,
    standard_errors,
)
from smooth_clir.experiments.settings import CHANNEL

ABOVE: Final = "↑"
BELOW: Final = "↓"
Comparisons = Mapping[tuple[str, str], Comparison]
_Line = Sequence[str | Entry]


def results(experiment: Experiment) -> Iterator[str]:
    """Yields the results of all rows, with baselines, p-values, standard errors and published numbers.

    Results on held-out domains come first.
    """
    rows = experiment.rows
    if not any(row.done for row in rows):
        yield paragraph("No cell has finished: there are no results yet.")
        return
    yield from domain_blocks(experiment)
    comparisons = compare(rows)
    yield table(_caption(rows, comparisons), _heads(experiment), _lines(experiment, comparisons))
    yield from _parameter_blocks(rows)
    yield from _channel_blocks(rows)
    yield from _search_blocks(rows)
    yield from _seen_blocks(experiment)
    if comparisons:
        yield from _p_value_blocks(rows, comparisons)
    yield from _error_blocks(rows)
    if experiment.published and not experiment.published.held_out:
        yield from published_blocks(experiment.published, rows)


def _caption(rows: Sequence[Row], comparisons: Comparisons) -> str:
    """Explains what the table shows."""
    has_spread = any(len(row.done) > 1 for row in rows)
    parts = ["Test split", ": mean over the seeds; below it the standard deviation and the range." * has_spread or "."]
    if any(row.done and reference.done for row, reference in reference_rows(rows)):
        parts.append(" The best mean of a column is bold.")
    if comparisons:
        parts.append(
            f" {ABOVE} and {BELOW} mark a mean significantly above or below that of the reference row, which is the "
            f"first (p < {SIGNIFICANCE} after Holm's correction)."
        )
    if len({str(row.data) for row in rows}) > 1:
        parts.append(" Rows with other data rank other lists: they have baselines of their own and are not compared.")
    return "".join(parts)


def _heads(experiment: Experiment) -> Sequence[str]:
    keys = experiment.rows[0].settings
    head = ", ".join(map(setting_name, keys)) or "row"
    first = head if head.startswith("ε") else head[0].upper() + head[1:]  # a capital epsilon is an E
    return (first, "seeds", *_metric_names())


class Group(NamedTuple):
    """Rows with the same data, and the baselines on these data: label to metrics."""

    rows: list[Row]
    baselines: Mapping[str, Mapping[str, float]]


def groups_of(rows: Sequence[Row]) -> list[Group]:
    """Groups the rows by their data, in their order, with the baselines of each group's rows."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row.data), []).append(row)
    return [Group(group_rows, _baselines(group_rows, len(groups) > 1)) for group_rows in groups.values()]


def _baselines(rows: Sequence[Row], names_data: bool) -> dict[str, Mapping[str, float]]:
    data = f", {settings_label(rows[0].data)}" if names_data else ""
    # Rows may have different baselines; the first row with a baseline decides its values.
    baselines = {name: metrics for row in reversed(rows) if row.done for name, metrics in row.done[0].baselines.items()}
    return {f"{baseline_name(name)}{data}": metrics for name, metrics in baselines.items()}


def best_means(rows: Sequence[Row]) -> dict[str, float]:
    """Returns the best mean of each metric over the finished rows; empty unless two rows have finished."""
    done = [row for row in rows if row.done]
    return {metric: max(row.mean(metric) for row in done) for metric in METRICS if len(done) > 1}


def score_text(value: float) -> str:
    """Formats a metric."""
    return f"{value:.3f}"


def _lines(experiment: Experiment, comparisons: Comparisons) -> Iterator[_Line]:
    """Yields the rows with their baselines, group by group."""
    for group in groups_of(experiment.rows):
        best = best_means(group.rows)
        yield from (_line(row, best, comparisons) for row in group.rows)
        for label, baseline in group.baselines.items():
            yield (Entry(label, "baseline"), "", *(score_text(baseline[metric]) for metric in METRICS))


def _line(row: Row, best: Mapping[str, float], comparisons: Comparisons) -> _Line:
    seeds = f"{len(row.done)}" if len(row.done) == len(row.cells) else f"{len(row.done)} of {len(row.cells)}"
    if not row.done:
        return (row.label, seeds, *(NOTHING for _ in METRICS))
    return (row.label, seeds, *(_entry(row, metric, best, comparisons) for metric in METRICS))


def _entry(row: Row, metric: str, best: Mapping[str, float], comparisons: Comparisons) -> Entry:
    values = [cell.metrics[metric] for cell in row.done]
    compared = comparisons.get((row.label, metric))
    mark = (ABOVE if compared.difference > 0 else BELOW) if compared and compared.p_value < SIGNIFICANCE else ""
    spread = f"±{stdev(values):.3f}\n{min(values):.3f}–{max(values):.3f}" if len(values) > 1 else ""
    is_best = metric in best and score_text(row.mean(metric)) == score_text(best[metric])
    return Entry(score_text(row.mean(metric)) + mark, spread, is_best)


def _parameter_blocks(rows: Sequence[Row]) -> Iterator[str]:
    """Yields the parameters of the baselines, which all rows with the same data share; nothing without parameters."""
    reports = [row.done[0].evaluation for row in reversed(rows) if row.done]
    chosen = {name: values for report in reports if report for name, values in report.parameters.items()}
    if chosen:
        lines = ((baseline_name(name), value_name(values)) for name, values in chosen.items())
        yield table("The parameters of the baselines, chosen on the eval split", ("Baseline", "parameters"), lines)


def _channel_blocks(rows: Sequence[Row]) -> Iterator[str]:
    """Yields the metrics of each channel alone; nothing if every score has a single channel."""
    lines = []
    for row in rows:
        reports = [cell.evaluation for cell in row.done if cell.evaluation]
        for channel in reports[0].channels if reports else ():
            means = (score_text(mean(report.channels[channel][metric] for report in reports)) for metric in METRICS)
            lines.append((row.label, value_name(channel, CHANNEL), *means))
    if lines:
        heads = ("Row", "channel", *_metric_names())
        yield table("The channels of the scores, each alone: means over the seeds", heads, lines)


def _search_blocks(rows: Sequence[Row]) -> Iterator[str]:
    """Yields the metrics of rows, and of their channels alone, in the whole collection; nothing without a search."""
    lines = []
    sizes: set[int] = set()
    for row in rows:
        reports = [cell.search for cell in row.done if cell.search]
        sizes |= {report.documents for report in reports}
        for system in ("", *reports[0].channels) if reports else ():
            systems = [report.channels[system] if system else report.metrics for report in reports]
            means = (score_text(mean(metrics[key] for metrics in systems)) for key in SEARCH_METRICS)
            lines.append((row.label, value_name(system, CHANNEL), *means))
    if lines:
        documents = " or ".join(f"{size:,}" for size in sorted(sizes))
        caption = f"Search in the whole collection ({documents} documents): means over the seeds"
        yield table(caption, ("Row", "channel alone", *SEARCH_METRICS), lines)


def _seen_blocks(experiment: Experiment) -> Iterator[str]:
    """Yields the results of queries on seen and on cold documents; nothing if this is unknown."""
    seen, cold = (_part(experiment, name) for name in ("seen", "cold"))
    if seen.cells and cold.cells:
        for part, words in ((seen, "with an MR document"), (cold, "without an MR document")):
            counts = " or ".join(f"{queries:,}" for queries in sorted({cell.queries for cell in part.cells}))
            caption = f"The {counts} test queries {words} that training has seen as relevant."
            yield table(caption, _heads(experiment), _lines(part, {}))
    elif seen.cells or cold.cells:
        yield paragraph(f"Training has seen {'every' if seen.cells else 'no'} test query's MR document as relevant.")


def _part(experiment: Experiment, name: str) -> Experiment:
    """Returns the experiment with only the queries on seen, or on cold, documents."""
    parts = [(cell, getattr(cell.evaluation, name, None)) for cell in experiment.cells]
    return replace(
        experiment,
        cells=tuple(
            replace(cell, evaluation=cell.evaluation.model_copy(update=dict(part)))
            for cell, part in parts
            if cell.evaluation and part and part.queries
        ),
    )


def _p_value_blocks(rows: Sequence[Row], comparisons: Comparisons) -> Iterator[str]:
    lines = (
        (row.label, reference.label, *(comparisons[row.label, metric].p_text for metric in METRICS))
        for row, reference in reference_rows(rows)
        if (row.label, next(iter(METRICS))) in comparisons
    )
    heads = ("Row", "reference row", *_metric_names())
    yield table("p-values of the difference from the reference row", heads, lines)
    yield paragraph(
        "Two-sided paired randomisation test over queries (exact where there are few queries, else 9,999 drawn sign "
        "flips), a query's value being the mean over the seeds that both rows have. Holm's correction covers all "
        f"{len(comparisons)} comparisons of the table. The test separates differences between queries from chance, not "
        "differences between seeds." + BOUND_NOTE * any(comparison.is_bound for comparison in comparisons.values())
    )


def _error_blocks(rows: Sequence[Row]) -> Iterator[str]:
    """Yields the standard errors of the rows' means; nothing if each row has a single query."""
    errors = standard_errors(rows)
    labels = dict.fromkeys(label for label, _ in errors)
    if labels:
        lines = ((label, *(score_text(errors[label, metric]) for metric in METRICS)) for label in labels)
        yield table("Standard errors of the means over queries", ("Row", *_metric_names()), lines)
        yield paragraph(
            "How far a mean strays with other queries of the same kind: the standard deviation of the queries' values, "
            "each the mean over the row's seeds, divided by the square root of their number. The rows have the same "
            "queries, so that a difference between two rows strays less: see the p-values."
        )


def _metric_names() -> Iterator[str]:
    return (metric.name for metric in METRICS.values())
