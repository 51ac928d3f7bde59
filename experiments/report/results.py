"""The table of an experiment's results, in the form of the paper's Tables 2 and 3, and its tests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import mean, stdev
from typing import Final

from experiments.experiment import Experiment, Row
from experiments.report.names import setting_name, settings_label, value_name
from experiments.report.page import NOTHING, Block, Entry, Line, Section, Table, Text
from experiments.report.published import COLUMNS, PAPER_LANGUAGES, PUBLISHED, Published
from experiments.report.significance import SIGNIFICANCE, Comparison, compare, reference_rows
from models.evaluation.metrics import METRICS
from schemas.evaluation_report import RANDOM_ORDER

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
