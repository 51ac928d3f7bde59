"""The verdicts on an experiment's claims, and the comparisons behind them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.evaluation.metrics import METRICS
from models.evaluation.significance import RESOLUTION, holm, randomisation_test
from schemas.evaluation import QueryMetrics
from smooth_clir.experiments.experiment import Experiment, Row
from smooth_clir.experiments.report.markdown import NOTHING, Entry, paragraph, table
from smooth_clir.experiments.report.names import baseline_name, value_name
from smooth_clir.experiments.report.significance import (
    SIGNIFICANCE,
    Comparison,
    baseline_metric,
    channel_metric,
    means_over_seeds,
    pairs_of,
    values_of,
)
from smooth_clir.experiments.settings import BASELINE, CHANNEL, Claim

HOLDS: Final = "holds"
CONTRADICTED: Final = "is contradicted"
OPEN: Final = "inconclusive"
CLAIMS_CAPTION: Final = "The claims of the experiment"
_Floats = npt.NDArray[np.float64]

_OF_MANY: Final = {HOLDS: "hold", CONTRADICTED: "are contradicted", OPEN: OPEN}


class _Part(NamedTuple):
    """One of a claim's comparisons."""

    metric: str
    row: Row
    other: str
    """The label of the other row, or the name of the baseline."""
    comparison: Comparison | None
    """None where the rows share no finished seed, or no cell with the same data has the baseline."""
    verdict: str = OPEN


class Judged(NamedTuple):
    """A claim with its comparisons."""

    claim: Claim
    parts: Sequence[_Part]

    @property
    def verdict(self) -> str:
        """Holds where every comparison does, and is contradicted where one is."""
        verdicts = {part.verdict for part in self.parts}
        return CONTRADICTED if CONTRADICTED in verdicts else HOLDS if verdicts == {HOLDS} else OPEN


def judge(experiment: Experiment) -> list[Judged]:
    """Every claim with its verdict; Holm's correction covers all comparisons of all of them."""
    values = values_of(experiment.rows)
    found = [(claim, [*_parts(claim, experiment.rows, values)]) for claim in experiment.claims]
    tested = [part.comparison for _, parts in found for part in parts if part.comparison]
    corrected = iter(holm([one.p_value for one in tested]))
    judged = []
    for claim, parts in found:
        for place, part in enumerate(parts):
            compared = part.comparison and part.comparison._replace(p_value=next(corrected))
            parts[place] = part._replace(comparison=compared, verdict=verdict(claim, compared))
        judged.append(Judged(claim, parts))
    return judged


def verdicts(judged: Sequence[Judged]) -> Iterator[str]:
    """A verdict on each claim; nothing where the experiment claims nothing."""
    if judged:
        lines = ((one.claim.says, one.verdict, _count(one)) for one in judged)
        yield table(CLAIMS_CAPTION, ("Claim", "verdict", "comparisons"), lines)


def comparisons(judged: Sequence[Judged]) -> Iterator[str]:
    """The comparisons behind the verdicts, and when one holds; nothing where the experiment claims nothing."""
    if not judged:
        return
    for one in judged:
        yield table(
            f"{one.claim.says}{_margin(one.claim)}: the difference of the means over queries, its verdict and p-value",
            ("Row", "compared with", *(METRICS[metric].name for metric in one.claim.metrics)),
            _lines(one),
        )
    number = sum(part.comparison is not None for one in judged for part in one.parts)
    yield paragraph(
        f"A comparison holds, or is contradicted, where p < {SIGNIFICANCE} after Holm's correction (number of "
        f"comparisons: {number}), else it is {OPEN}; the test is that of the results below. A claim holds where "
        "all its comparisons do, and is contradicted where one of them is."
    )


def verdict(claim: Claim, compared: Comparison | None) -> str:
    """The verdict on a comparison of a claim: `OPEN` unless it is significant.

    Args:
      claim: has direction and margin.
      compared: with its corrected p-value; None where nothing can be compared.
    """
    if compared is None or compared.p_value >= SIGNIFICANCE:
        return OPEN
    signed = compared.difference if claim.direction == "above" else -compared.difference
    return HOLDS if signed > claim.margin else CONTRADICTED


def _parts(claim: Claim, rows: Sequence[Row], values: Mapping[str, QueryMetrics]) -> Iterator[_Part]:
    """A claim's comparisons, before any correction: the results' test, of one row and the other plus the margin.

    Rows may differ in their data: then their queries are the same, and their lists are not.
    """
    row = _find(claim.row, rows)
    sign = 1 if claim.direction == "above" else -1
    for chosen in claim.than:
        for metric in claim.metrics:
            label, means = _means(row, chosen, metric, rows, values)
            compared = None
            if means:
                of_row, of_other = means
                p_value = randomisation_test(sign * of_row, sign * of_other + claim.margin, two_sided=True)
                compared = Comparison(float(np.mean(of_row - of_other)), p_value, p_value == RESOLUTION)
            yield _Part(metric, row, label, compared)


def _means(
    row: Row, chosen: Mapping[str, Any], metric: str, rows: Sequence[Row], values: Mapping[str, QueryMetrics]
) -> tuple[str, tuple[_Floats, _Floats] | None]:
    """The label of what a row is compared with, and a metric of each query for both; None where there is no pair."""
    if BASELINE in chosen:
        # Rows with the same data rank the same lists, and a baseline may be evaluated beside one of them alone.
        cells = (cell for other in rows if other.data == row.data for cell in other.done)
        runs = (baseline_metric(cell, chosen[BASELINE], metric) for cell in cells)
        baseline = next((values for values in runs if values is not None), None)
        return baseline_name(chosen[BASELINE]), _beside(row, baseline, metric, values)
    if CHANNEL in chosen:
        channels = [channel_metric(cell, chosen[CHANNEL], metric) for cell in row.done]
        known = [channel for channel in channels if channel is not None]
        channel = np.mean(known, axis=0) if known and len(known) == len(channels) else None
        return f"its {value_name(chosen[CHANNEL], CHANNEL)} alone", _beside(row, channel, metric, values)
    other_row = _find(chosen, rows)
    pairs = pairs_of(row, other_row, values)
    return other_row.label, means_over_seeds(pairs, values, metric) if pairs else None


def _beside(
    row: Row, system: _Floats | None, metric: str, values: Mapping[str, QueryMetrics]
) -> tuple[_Floats, _Floats] | None:
    """A metric of each query for a row and for a system on the same lists; None where one of them has none."""
    if system is None or not row.done:
        return None
    return np.mean([values[cell.name].values[metric] for cell in row.done], axis=0), system


def _find(chosen: Mapping[str, Any], rows: Sequence[Row]) -> Row:
    (row,) = (row for row in rows if chosen.items() <= row.settings.items())
    return row


def _count(judged: Judged) -> str:
    counts = Counter(part.verdict for part in judged.parts)
    said = (f"{counts[one]} {one if counts[one] == 1 else many}" for one, many in _OF_MANY.items() if counts[one])
    return ", ".join(said)


def _margin(claim: Claim) -> str:
    return f" ({claim.direction} by {claim.margin:g} or more)" if claim.margin else ""


def _lines(judged: Judged) -> Iterator[Sequence[str | Entry]]:
    """A line for each row that a claim's row is compared with."""
    metrics = len(judged.claim.metrics)
    for start in range(0, len(judged.parts), metrics):
        parts = judged.parts[start : start + metrics]
        yield (parts[0].row.label, parts[0].other, *map(_entry, parts))


def _entry(part: _Part) -> Entry:
    compared = part.comparison
    p_value = f"p {compared.p_text if compared.is_bound else f'= {compared.p_text}'}" if compared else ""
    return Entry(f"{compared.difference:+.3f}" if compared else NOTHING, f"{part.verdict}\n{p_value}".rstrip())
