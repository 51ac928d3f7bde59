"""The numbers of Cohen et al. 2018 on held-out domains, Tables 1 and 2, and where they contradict each other."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from smooth_clir.experiments.report.markdown import NOTHING, paragraph, table

RANKERS: Final = ("CosSim", "Duet-Dist.")
COLUMNS: Final = ("Original P@1", "Original MRR", "Adv P@1", "Adv MRR")
"""The columns of each ranker."""
_NO_ADVERSARY: Final = f" | {NOTHING} | {NOTHING}"
_HALF_DIGIT: Final = 0.00005
"""The most by which a value with four decimals differs from the one before rounding."""


class PublishedLine(NamedTuple):
    """A line of one of the paper's tables, as printed."""

    domains: str
    """Source → target."""
    size: str
    """Size of the source; empty in Table 2."""
    entries: tuple[str, ...]
    """For each of `RANKERS` its `COLUMNS`."""


def _line(domains: str, size: str, cossim: str, duet: str) -> PublishedLine:
    return PublishedLine(domains, size, (*cossim.split(" | "), *duet.split(" | ")))


PUBLISHED_DOMAINS: Final[dict[str, tuple[PublishedLine, ...]]] = {
    "1": (
        _line(
            "All → All",
            "142627",
            "0.4229 | 0.6188 | 0.4213 (3%) | 0.6214 (+.4%)",
            "0.4514 | 0.6136 | 0.4286 (-5%)† | 0.6061 (-1%)†",
        ),
        _line(
            "All* → Sports",
            "139000",
            "0.3282 | 0.5194 | 0.4041 (+23%)† | 0.5925 (+12%)†",
            "0.2570 | 0.4567 | 0.3282 (+28%)† | 0.5011 (+10%)†",
        ),
        _line("Sports → Sports", "3627", f"0.2146 | 0.5482{_NO_ADVERSARY}", f"0.2415 | 0.3734{_NO_ADVERSARY}"),
        _line(
            "All* → Home",
            "133372",
            "0.3460 | 0.5275 | 0.3645 (+5%)† | 0.5433 (+3%)†",
            "0.3314 | 0.5285 | 0.3639 (+10%)† | 0.5457 (+3%)†",
        ),
        _line("Home → Home", "9255", f"0.3014 | 0.5490{_NO_ADVERSARY}", f"0.2477 | 0.4119{_NO_ADVERSARY}"),
        _line(
            "All* → Politics",
            "138739",
            "0.3100 | 0.5101 | 0.3580 (+16%)† | 0.5507 (+8%)†",
            "0.3400 | 0.5291 | 0.3516 (+3%)† | 0.5342 (+3%)†",
        ),
        _line("Politics → Politics", "3888", f"0.2219 | 0.5234{_NO_ADVERSARY}", f"0.2160 | 0.5388{_NO_ADVERSARY}"),
        _line(
            "All* → Travel",
            "140150",
            "0.2360 | 0.4486 | 0.2789 (+18%)† | 0.4723 (+5%)†",
            "0.2158 | 0.4196 | 0.2842 (+32%)† | 0.4532 (+8%)†",
        ),
        _line("Travel → Travel", "2477", f"0.2263 | 0.5181{_NO_ADVERSARY}", f"0.1895 | 0.3998{_NO_ADVERSARY}"),
    ),
    "2": (
        _line(
            "(InsuranceQA, L4) → WebAP",
            "",
            "0.0901 | 0.2410 | 0.2500 | 0.3873",
            "0.1250 | 0.4567 | 0.3286† | 0.5011†",
        ),
        _line(
            "(InsuranceQA, WebAP) → L4",
            "",
            "0.1120 | 0.2957 | 0.2424† | 0.4335†",
            "0.0758 | 0.1939 | 0.3908† | 0.5642†",
        ),
        _line(
            "(L4, WebAP) → InsuranceQA",
            "",
            "0.1406 | 0.4267 | 0.1582 | 0.4717†",
            "0.0489 | 0.1473 | 0.1622† | 0.3059†",
        ),
    ),
}
"""The lines of each table. All* is the collection L4 without the target."""


class WrongChange(NamedTuple):
    """A printed change that is not the rounded change of the printed values."""

    domains: str
    column: str
    """The ranker and its column."""
    printed: str
    """In per cent."""
    change: float
    """The change of the printed values, in per cent."""
    may_be_rounding: bool
    """Whether values that round to the printed ones can have the printed change."""


def wrong_changes() -> Iterator[WrongChange]:
    """The printed changes of Table 1 that contradict the values beside them."""
    for domains, _, entries in PUBLISHED_DOMAINS["1"]:
        for place, adversarial in enumerate(entries):
            found = re.fullmatch(r"([\d.]+) \(([-+]?\d*\.?(\d*))%\)†?", adversarial)
            if not found:
                continue
            before, after, printed = float(entries[place - 2]), float(found[1]), float(found[2])
            decimals = len(found[3]) if "." in found[2] else 0
            change = 100 * (after / before - 1)
            if round(change, decimals) == printed:
                continue
            lowest = 100 * ((after - _HALF_DIGIT) / (before + _HALF_DIGIT) - 1)
            highest = 100 * ((after + _HALF_DIGIT) / (before - _HALF_DIGIT) - 1)
            half_unit = 0.5 / 10**decimals
            may_be_rounding = lowest <= printed + half_unit and printed - half_unit <= highest
            column = f"{RANKERS[place // len(COLUMNS)]}, {COLUMNS[place % len(COLUMNS)]}"
            yield WrongChange(domains, column, found[2], change, may_be_rounding)


def published_domain_blocks(name: str) -> Iterator[str]:
    """The lines of one of the paper's tables, and a note on where they contradict themselves.

    Args:
      name: a key of `PUBLISHED_DOMAINS`.
    """
    columns = [f"{ranker} {column}" for ranker in RANKERS for column in COLUMNS]
    caption = f"The published numbers as printed (Cohen et al. 2018, Table {name})"
    lines = PUBLISHED_DOMAINS[name]
    if name == "1":
        yield table(
            caption, ("source → target", "size", *columns), ((one.domains, one.size, *one.entries) for one in lines)
        )
    else:
        yield table(caption, ("source → target", *columns), ((one.domains, *one.entries) for one in lines))
    of = "topics of one collection, L4; All* is all of it but the target" if name == "1" else "three collections"
    yield paragraph(
        f"The published numbers are of passages that answer English questions, of {of}. They are part of no comparison."
    )
    if name == "1":
        yield table(
            "Printed changes that are not those of the values beside them",
            ("source → target", "column", "printed", "computed", ""),
            map(_wrong_line, wrong_changes()),
        )
        yield paragraph(
            "The caption of Table 1 speaks of collections, and of training on the opposing two, as that of Table 2; "
            "Table 1 is of topics, and trains on all others."
        )
    yield paragraph(
        "In Table 2 the MRRs of Duet-Dist. for (InsuranceQA, L4) → WebAP, 0.4567 and 0.5011, are those for All* → "
        "Sports in Table 1: at least one of the two lines must be wrong."
    )


def _wrong_line(one: WrongChange) -> tuple[str, ...]:
    reason = "rounded values may explain it" if one.may_be_rounding else "contradicts them"
    return one.domains, one.column, f"{one.printed} %", f"{one.change:+.1f} %", reason
