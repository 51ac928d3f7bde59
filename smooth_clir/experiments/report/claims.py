"""Judges an experiment's claims, and shows the comparisons behind the verdicts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.evaluation.metrics import METRICS
from models.evaluation.significance import RESOLUTION, Comparison, holm, randomisation_test
from schemas.evaluation import QueryMetrics
from smooth_clir.experiments.experiment import Experiment, Row
from smooth_clir.experiments.report.markdown import NOTHING, Entry, paragraph, table
from smooth_clir.experiments.report.names import baseline_name, value_name
from smooth_clir.experiments.report.significance import (
    SIGNIFICANCE,
    means_over_seeds,
    pairs_of,
    system_metric,
    values_of,
)
from smooth_clir.experiments.settings import BASELINE, CHANNEL, Claim

HOLDS: Final = "holds"
CONTRADICTED: Final = "is contradicted"
OPEN: Final = "inconclusive"
CLAIMS_CAPTION: Final = "The claims of the experiment"
_Floats = npt.NDArray[np.float64]

_PLURALS: Final = {HOLDS: "hold", CONTRADICTED: "are contradicted", OPEN: OPEN}


class _Part(NamedTuple):
    """A comparison of a claim."""

    metric: str
    row: Row
    rival: str
    """The label of the other row, or the name of the baseline."""
    comparison: Comparison | None
    """None if the rows share no finished seed, or if no cell with the same data has the baseline."""
    verdict: str = OPEN


class Judged(NamedTuple):
    """A claim with its comparisons."""

    claim: Claim
    parts: Sequence[_Part]

    @property
    def verdict(self) -> str:
        """The verdict: holds if every comparison holds, is contradicted if any comparison is."""
        verdicts = {part.verdict for part in self.parts}
        return CONTRADICTED if CONTRADICTED in verdicts else HOLDS if verdicts == {HOLDS} else OPEN


def judge(experiment: Experiment) -> list[Judged]:
    """Judges every claim; Holm's correction covers all comparisons of all claims."""
    values = values_of(experiment.rows)
    claims = [(claim, [*_parts(claim, experiment.rows, values)]) for claim in experiment.claims]
    tested = [part.comparison for _, parts in claims for part in parts if part.comparison]
    corrected = iter(holm([comparison.p_value for comparison in tested]))
    judged = []
    for claim, parts in claims:
        for number, part in enumerate(parts):
            compared = part.comparison and part.comparison._replace(p_value=next(corrected))
            parts[number] = part._replace(comparison=compared, verdict=verdict(claim, compared))
        judged.append(Judged(claim, parts))
    return judged


def verdicts(judged: Sequence[Judged]) -> Iterator[str]:
    """Yields a table of the verdicts; nothing without claims."""
    if judged:
        lines = ((entry.claim.says, entry.verdict, _count(entry)) for entry in judged)
        yield table(CLAIMS_CAPTION, ("Claim", "verdict", "comparisons"), lines)


def comparisons(judged: Sequence[Judged]) -> Iterator[str]:
    """Yields the comparisons behind the verdicts, and an explanation; nothing without claims."""
    if not judged:
        return
    for claim, parts in judged:
        margin = f" ({claim.direction} by {claim.margin:g} or more)" if claim.margin else ""
        yield table(
            f"{claim.says}{margin}: the difference of the means over queries, its verdict and p-value",
            ("Row", "compared with", *(METRICS[metric].name for metric in claim.metrics)),
            _lines(claim, parts),
        )
    number = sum(part.comparison is not None for _, parts in judged for part in parts)
    yield paragraph(
        f"A comparison holds, or is contradicted, where p < {SIGNIFICANCE} after Holm's correction (number of "
        f"comparisons: {number}), else it is {OPEN}; the test is that of the results below. A claim holds where "
        "all its comparisons do, and is contradicted where one of them is."
    )


def verdict(claim: Claim, compared: Comparison | None) -> str:
    """Returns the verdict on a comparison of a claim: `OPEN` unless the comparison is significant.

    Args:
      claim: the claim, with direction and margin.
      compared: the comparison, with its corrected p-value; None if nothing can be compared.
    """
    if compared is None or compared.p_value >= SIGNIFICANCE:
        return OPEN
    signed = compared.difference if claim.direction == "above" else -compared.difference
    return HOLDS if signed > claim.margin else CONTRADICTED


def _parts(claim: Claim, rows: Sequence[Row], values: Mapping[str, QueryMetrics]) -> Iterator[_Part]:
    """Yields a claim's comparisons before correction: the test of the results, with the margin added to the rival.

    Rows with different data have the same queries, but different lists.
    """
    row = _find(claim.row, rows)
    sign = 1 if claim.direction == "above" else -1
    for chosen in claim.than:
        for metric in claim.metrics:
            label, means = _means(row, chosen, metric, rows, values)
            compared = None
            if means:
                row_values, rival_values = means
                p_value = randomisation_test(sign * row_values, sign * rival_values + claim.margin, two_sided=True)
                compared = Comparison(float(np.mean(row_values - rival_values)), p_value, p_value == RESOLUTION)
            yield _Part(metric, row, label, compared)


def _means(
    row: Row, chosen: Mapping[str, Any], metric: str, rows: Sequence[Row], values: Mapping[str, QueryMetrics]
) -> tuple[str, tuple[_Floats, _Floats] | None]:
    """Returns the rival's label, and a metric of each query for the row and the rival; None without a pair."""
    if BASELINE in chosen:
        # Rows with the same data rank the same lists, and a baseline may be evaluated with only one of the rows.
        cells = (cell for same in rows if same.data == row.data for cell in same.done)
        runs = (system_metric(cell, BASELINE, chosen[BASELINE], metric) for cell in cells)
        baseline = next((values for values in runs if values is not None), None)
        return baseline_name(chosen[BASELINE]), _beside(row, baseline, metric, values)
    if CHANNEL in chosen:
        channels = [system_metric(cell, CHANNEL, chosen[CHANNEL], metric) for cell in row.done]
        known = [channel for channel in channels if channel is not None]
        channel = np.mean(known, axis=0) if known and len(known) == len(channels) else None
        return f"its {value_name(chosen[CHANNEL], CHANNEL)} alone", _beside(row, channel, metric, values)
    rival = _find(chosen, rows)
    pairs = pairs_of(row, rival, values)
    return rival.label, means_over_seeds(pairs, values, metric) if pairs else None


def _beside(
    row: Row, system: _Floats | None, metric: str, values: Mapping[str, QueryMetrics]
) -> tuple[_Floats, _Floats] | None:
    """Returns a metric of each query for a row and for a system on the same lists; None unless both have it."""
    if system is None or not row.done:
        return None
    return np.mean([values[cell.name].values[metric] for cell in row.done], axis=0), system


def _find(chosen: Mapping[str, Any], rows: Sequence[Row]) -> Row:
    (row,) = (row for row in rows if chosen.items() <= row.settings.items())
    return row


def _count(judged: Judged) -> str:
    counts = Counter(part.verdict for part in judged.parts)
    known = ((counts[single], single, plural) for single, plural in _PLURALS.items() if counts[single])
    return ", ".join(f"{count} {single if count == 1 else plural}" for count, single, plural in known)


def _lines(claim: Claim, parts: Sequence[_Part]) -> Iterator[Sequence[str | Entry]]:
    """Yields a line for each rival of a claim's row."""
    metrics = len(claim.metrics)
    for start in range(0, len(parts), metrics):
        line = parts[start : start + metrics]
        yield (line[0].row.label, line[0].rival, *map(_entry, line))


def _entry(part: _Part) -> Entry:
    compared = part.comparison
    p_value = f"p {compared.p_text if compared.is_bound else f'= {compared.p_text}'}" if compared else ""
    return Entry(f"{compared.difference:+.3f}" if compared else NOTHING, f"{part.verdict}\n{p_value}".rstrip())
