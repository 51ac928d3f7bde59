"""The numbers that the paper published, transcribed as printed (arXiv:2011.00701, Tables 2 and 3)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import mean, stdev
from typing import Final, NamedTuple

from experiments.experiment import Experiment, Row
from experiments.report.names import setting_name, settings_label, value_name
from experiments.report.page import NOTHING, Block, Entry, Line, Section, Table, Text
from experiments.report.significance import SIGNIFICANCE, Comparison, compare, reference_rows
from models.evaluation.metrics import METRICS
from schemas.evaluation import RANDOM_ORDER

COLUMNS: Final = ("p_mr_1", "recall_mr_5", "p_r_5", "ndcg_5", "map", "mrr_mr", "mrr_r")
"""The metrics of both tables, in their order."""


class Published(NamedTuple):
    """A row of one of the paper's tables; its epsilon is 1 everywhere."""

    table: str
    loss: str
    """`loss.name`."""
    encoder: str
    """`model.encoder`."""
    metrics: dict[str, float]


def _published_row(table: str, loss: str, encoder: str, *values: float) -> Published:
    return Published(table, loss, encoder, dict(zip(COLUMNS, values, strict=True)))


PAPER_LANGUAGES = {"fr": "French", "it": "Italian", "sw": "Swahili", "tl": "Tagalog"}

# Average Pooling's rows of Table 3 are SOSL's of Table 2.
# NDCG@5 of DSSM-CNN for French, 0.570, stands so in the paper, though its other columns lie close to Italian's.
PUBLISHED: dict[str, tuple[Published, ...]] = {
    "fr": (
        _published_row("Tables 2 and 3", "sosl", "mean", 0.438, 0.832, 0.607, 0.811, 0.841, 0.607, 0.919),
        _published_row("Table 2", "three_part_l2", "mean", 0.411, 0.763, 0.560, 0.754, 0.766, 0.565, 0.889),
        _published_row("Table 2", "mse", "mean", 0.253, 0.700, 0.603, 0.727, 0.792, 0.443, 0.854),
        _published_row("Table 2", "proportional_odds", "mean", 0.254, 0.704, 0.604, 0.729, 0.795, 0.445, 0.856),
        _published_row("Table 3", "sosl", "cnn", 0.262, 0.656, 0.542, 0.570, 0.709, 0.437, 0.812),
        _published_row("Table 3", "sosl", "lstm", 0.335, 0.718, 0.560, 0.716, 0.748, 0.503, 0.846),
    ),
    "it": (
        _published_row("Tables 2 and 3", "sosl", "mean", 0.401, 0.791, 0.614, 0.798, 0.838, 0.568, 0.912),
        _published_row("Table 2", "three_part_l2", "mean", 0.385, 0.748, 0.572, 0.751, 0.768, 0.545, 0.883),
        _published_row("Table 2", "mse", "mean", 0.231, 0.699, 0.618, 0.731, 0.803, 0.427, 0.862),
        _published_row("Table 2", "proportional_odds", "mean", 0.232, 0.705, 0.619, 0.734, 0.806, 0.430, 0.863),
        _published_row("Table 3", "sosl", "cnn", 0.217, 0.620, 0.547, 0.656, 0.709, 0.394, 0.805),
        _published_row("Table 3", "sosl", "lstm", 0.248, 0.675, 0.551, 0.675, 0.714, 0.434, 0.814),
    ),
    "sw": (
        _published_row("Tables 2 and 3", "sosl", "mean", 0.600, 0.916, 0.341, 0.793, 0.776, 0.735, 0.833),
        _published_row("Table 2", "three_part_l2", "mean", 0.599, 0.907, 0.314, 0.771, 0.737, 0.732, 0.827),
        _published_row("Table 2", "mse", "mean", 0.351, 0.851, 0.360, 0.724, 0.738, 0.558, 0.771),
        _published_row("Table 2", "proportional_odds", "mean", 0.351, 0.855, 0.362, 0.726, 0.740, 0.560, 0.772),
        _published_row("Table 3", "sosl", "cnn", 0.457, 0.869, 0.310, 0.700, 0.680, 0.628, 0.743),
        _published_row("Table 3", "sosl", "lstm", 0.527, 0.897, 0.319, 0.738, 0.713, 0.685, 0.772),
    ),
    "tl": (
        _published_row("Tables 2 and 3", "sosl", "mean", 0.596, 0.928, 0.254, 0.799, 0.772, 0.738, 0.794),
        _published_row("Table 2", "three_part_l2", "mean", 0.583, 0.925, 0.251, 0.790, 0.760, 0.730, 0.785),
        _published_row("Table 2", "mse", "mean", 0.455, 0.892, 0.251, 0.732, 0.709, 0.639, 0.726),
        _published_row("Table 2", "proportional_odds", "mean", 0.463, 0.896, 0.252, 0.737, 0.715, 0.645, 0.730),
        _published_row("Table 3", "sosl", "cnn", 0.450, 0.861, 0.235, 0.699, 0.668, 0.624, 0.693),
        _published_row("Table 3", "sosl", "lstm", 0.526, 0.907, 0.242, 0.748, 0.709, 0.688, 0.736),
    ),
}
"""Rows by document language. In Table 3 Tagalog stands before Swahili: Average Pooling tells a block's language."""


ABOVE: Final = "↑"
BELOW: Final = "↓"
Comparisons = Mapping[tuple[str, str], Comparison]
_BASELINES = {RANDOM_ORDER: "random order", "bm25": "BM25", "paper": "the paper's system"}


def results(experiment: Experiment) -> Section:
    """The results of all rows, with baselines, p-values and published numbers."""
    rows = experiment.rows
    if not any(row.done for row in rows):
        return Section("results", "Results", (Text("No cell has finished: there are no results yet."),))
    comparisons = compare(rows)
    table = Table(
        _caption(rows, comparisons),
        _heads(experiment),
        tuple(_lines(experiment, comparisons)),
    )
    blocks: list[Block] = [table, *_channel_blocks(rows), *_seen_blocks(experiment)]
    if comparisons:
        blocks += _p_value_blocks(rows, comparisons)
    if experiment.paper_language:
        blocks += _published_blocks(rows, experiment.paper_language)
    return Section("results", "Results", tuple(blocks))


def _channel_blocks(rows: Sequence[Row]) -> Iterator[Block]:
    """What each channel of the rows' scores ranks alone; nothing where no score has more than one."""
    lines = []
    for row in rows:
        reports = [cell.evaluation for cell in row.done if cell.evaluation]
        for channel in reports[0].channels if reports else ():
            means = (_score(mean(report.channels[channel][metric] for report in reports)) for metric in METRICS)
            lines.append(Line((Entry(row.label), Entry(value_name(channel)), *map(Entry, means))))
    if lines:
        heads = ("Row", "channel", *(metric.name for metric in METRICS.values()))
        yield Table("The channels of the scores, each alone: means over the seeds", heads, tuple(lines))


def _seen_blocks(experiment: Experiment) -> Iterator[Block]:
    """The same of the queries whose documents training has seen, and of the others; nothing where it is not known."""
    seen, cold = (_part(experiment, name) for name in ("seen", "cold"))
    if seen.cells and cold.cells:
        for part, which in ((seen, "with an MR document"), (cold, "without an MR document")):
            counts = " or ".join(f"{queries:,}" for queries in sorted({cell.queries for cell in part.cells}))
            caption = f"The {counts} test queries {which} that training has seen as relevant."
            yield Table(caption, _heads(experiment), tuple(_lines(part, {})))
    elif seen.cells or cold.cells:
        yield Text(f"Training has seen {'every' if seen.cells else 'no'} test query's MR document as relevant.")


def _part(experiment: Experiment, name: str) -> Experiment:
    """The finished cells as if the queries on seen, or on cold, documents were all there are."""
    parts = [(cell, getattr(cell.evaluation, name, None)) for cell in experiment.cells]
    return replace(
        experiment,
        cells=tuple(
            replace(cell, evaluation=cell.evaluation.model_copy(update=dict(part)))
            for cell, part in parts
            if cell.evaluation and part and part.queries
        ),
    )


def _caption(rows: Sequence[Row], comparisons: Comparisons) -> str:
    """What the numbers are; nothing is said of what the table does not show."""
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


def _heads(experiment: Experiment) -> tuple[str, ...]:
    keys = experiment.rows[0].settings
    head = ", ".join(map(setting_name, keys)) or "row"
    first = head if head.startswith("ε") else head[0].upper() + head[1:]  # a capital epsilon is an E
    return (first, "seeds", *(metric.name for metric in METRICS.values()))


def _lines(experiment: Experiment, comparisons: Comparisons) -> Iterator[Line]:
    """The rows with their baselines, one group of rows with the same data after the other."""
    groups: dict[str, list[Row]] = {}
    for row in experiment.rows:
        groups.setdefault(str(row.data), []).append(row)
    for rows in groups.values():
        done = [row for row in rows if row.done]
        best = {metric: max(_mean(row, metric) for row in done) for metric in METRICS if len(done) > 1}
        yield from (_line(row, best, comparisons) for row in rows)
        if done:
            label = f", {settings_label(rows[0].data)}" if len(groups) > 1 else ""
            for name, baseline in done[0].done[0].baselines.items():
                entries = (Entry(_score(baseline[metric])) for metric in METRICS)
                yield Line((Entry(f"{_BASELINES.get(name, name)}{label}", "baseline"), Entry(""), *entries), "baseline")


def _line(row: Row, best: Mapping[str, float], comparisons: Comparisons) -> Line:
    seeds = f"{len(row.done)}" if len(row.done) == len(row.cells) else f"{len(row.done)} of {len(row.cells)}"
    if not row.done:
        return Line((Entry(row.label), Entry(seeds), *(Entry(NOTHING) for _ in METRICS)))
    return Line((Entry(row.label), Entry(seeds), *(_entry(row, metric, best, comparisons) for metric in METRICS)))


def _entry(row: Row, metric: str, best: Mapping[str, float], comparisons: Comparisons) -> Entry:
    values = [cell.metrics[metric] for cell in row.done]
    compared = comparisons.get((row.label, metric))
    mark = (ABOVE if compared.difference > 0 else BELOW) if compared and compared.p_value < SIGNIFICANCE else ""
    spread = f"±{stdev(values):.3f}\n{min(values):.3f}–{max(values):.3f}" if len(values) > 1 else ""
    is_best = metric in best and _score(mean(values)) == _score(best[metric])
    return Entry(_score(mean(values)) + mark, spread, is_best)


def _published_blocks(rows: Sequence[Row], language: str) -> Iterator[Block]:
    """Our means beside what the paper printed of its loss and encoder, where the collection is one of its own."""
    found = []
    for published in PUBLISHED[language]:
        chosen = {
            "preset": "paper",
            "loss.name": published.loss,
            "model.encoder": published.encoder,
            "model.similarity": "smooth_cosine",
            "model.epsilon": 1,
        }
        same = (row for row in rows if row.done and all(row.setting(key) == value for key, value in chosen.items()))
        found += [(row, published) for row in same]
    if not found:
        return
    heads = (head for row, published in found for head in (row.label, f"published in {published.table}"))
    yield Table(
        "Beside the published numbers",
        ("Metric", *heads),
        tuple(
            Line((Entry(METRICS[key].name), *(entry for pair in found for entry in _beside(*pair, key))))
            for key in COLUMNS
        ),
    )
    yield Text(
        f"The published columns are the paper's own numbers (arXiv:2011.00701) for {PAPER_LANGUAGES[language]} "
        "documents, with ε = 1, on its own draw of queries and NR documents. They are part of no comparison."
    )


def _beside(row: Row, published: Published, metric: str) -> tuple[Entry, Entry]:
    return Entry(_score(_mean(row, metric))), Entry(_score(published.metrics[metric]), is_published=True)


def _mean(row: Row, metric: str) -> float:
    return mean(cell.metrics[metric] for cell in row.done)


def _score(value: float) -> str:
    return f"{value:.3f}"


def _p_value_blocks(rows: Sequence[Row], comparisons: Comparisons) -> Iterator[Block]:
    references = {row.label: reference.label for row, reference in reference_rows(rows)}
    yield Table(
        "p-values of the difference from the reference row",
        ("Row", "reference row", *(metric.name for metric in METRICS.values())),
        tuple(
            Line((Entry(row), Entry(reference), *(Entry(comparisons[row, metric].p_text) for metric in METRICS)))
            for row, reference in references.items()
            if (row, next(iter(METRICS))) in comparisons
        ),
    )
    bound = " ≤: no drawn sign flip gave as large a difference, and the p-value may be smaller."
    yield Text(
        "Two-sided paired randomisation test over queries (exact where there are few queries, else 9,999 drawn sign "
        "flips), a query's value being the mean over the seeds that both rows have. Holm's correction covers all "
        f"{len(comparisons)} comparisons of the table. It tells differences between queries apart from chance, not "
        "differences between seeds." + bound * any(one.is_bound for one in comparisons.values())
    )
