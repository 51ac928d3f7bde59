"""The verdicts on what an experiment was to show."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from experiments.experiment import Experiment
from experiments.report.page import NOTHING, Block, Entry, Line, Section, Table, Text
from experiments.report.significance import SIGNIFICANCE, Comparison, Part, holm, judge
from experiments.settings import Claim
from models.metrics import METRICS

HOLDS: Final = "holds"
CONTRADICTED: Final = "is contradicted"
OPEN: Final = "cannot be told"
_OF_MANY: Final = {HOLDS: "hold", CONTRADICTED: "are contradicted", OPEN: OPEN}


class _Judged(NamedTuple):
    """A claim with the verdict on each of its comparisons."""

    claim: Claim
    parts: Sequence[tuple[Part, str]]

    @property
    def verdict(self) -> str:
        """Holds where every comparison does, and is contradicted where one is."""
        verdicts = {verdict for _, verdict in self.parts}
        return CONTRADICTED if CONTRADICTED in verdicts else HOLDS if verdicts == {HOLDS} else OPEN


def claims(experiment: Experiment) -> Section | None:
    """A verdict on each claim, and the comparisons behind it; None where the experiment claims nothing."""
    if not experiment.claims:
        return None
    return Section("claims", "Verdicts", tuple(_blocks(_judge(experiment))))


def verdict(claim: Claim, compared: Comparison | None) -> str:
    """The verdict on a comparison of a claim: told where the row's metric lies apart from the other's and the margin.

    Args:
      claim: has direction and margin.
      compared: with its corrected p-value; None where nothing can be compared.
    """
    if compared is None or compared.p_value >= SIGNIFICANCE:
        return OPEN
    signed = compared.difference if claim.direction == "above" else -compared.difference
    return HOLDS if signed > claim.margin else CONTRADICTED


def _judge(experiment: Experiment) -> list[_Judged]:
    """Every claim; Holm's correction covers all comparisons of all of them."""
    found = [(claim, judge(claim, experiment.rows)) for claim in experiment.claims]
    tested = [part.comparison for _, parts in found for part in parts if part.comparison]
    corrected = iter(holm([one.p_value for one in tested]))
    judged = []
    for claim, parts in found:
        told = []
        for part in parts:
            compared = part.comparison and part.comparison._replace(p_value=next(corrected))
            told.append((part._replace(comparison=compared), verdict(claim, compared)))
        judged.append(_Judged(claim, told))
    return judged


def _blocks(judged: Sequence[_Judged]) -> Iterator[Block]:
    yield Table(
        "What the experiment was to show",
        ("Claim", "verdict", "comparisons"),
        tuple(Line((Entry(one.claim.says), Entry(one.verdict), Entry(_count(one)))) for one in judged),
    )
    yield Table(
        "The comparisons: the difference of the means over queries, and its p-value",
        ("Claim", "metric", "row", "compared with", "difference", "p-value", "verdict"),
        tuple(
            Line(
                (
                    Entry(f"{one.claim.says}{_margin(one.claim)}"),
                    Entry(METRICS[part.metric].name),
                    Entry(part.row.label),
                    Entry(part.other.label),
                    *map(Entry, _figures(part.comparison)),
                    Entry(told),
                )
            )
            for one in judged
            for part, told in one.parts
        ),
    )
    comparisons = sum(part.comparison is not None for one in judged for part, _ in one.parts)
    yield Text(
        f"A comparison holds, or is contradicted, where p < {SIGNIFICANCE} after Holm's correction (number of "
        f"comparisons: {comparisons}); the test is that of the results below. A claim holds where all its comparisons "
        "do, and is contradicted where one of them is."
    )


def _count(judged: _Judged) -> str:
    counts = Counter(told for _, told in judged.parts)
    said = (f"{counts[one]} {one if counts[one] == 1 else many}" for one, many in _OF_MANY.items() if counts[one])
    return ", ".join(said)


def _margin(claim: Claim) -> str:
    return f" ({claim.direction} by {claim.margin:g} or more)" if claim.margin else ""


def _figures(compared: Comparison | None) -> tuple[str, str]:
    return (f"{compared.difference:+.3f}", compared.p_text) if compared else (NOTHING, NOTHING)
