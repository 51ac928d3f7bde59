"""The rows with an adversary, each beside the same ranker without it, for each held-out domain."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from smooth_clir.experiments.experiment import Experiment, Row
from smooth_clir.experiments.report.names import settings_label
from smooth_clir.experiments.settings import HELD_OUT, SEED, VARIANT

WEIGHT: Final = "adversary.weight"
TEXTS: Final = "adversary.held_out_texts"
UPDATES: Final = "adversary.updates"


class Line(NamedTuple):
    """A row with an adversary beside its original, the same ranker without; or an original that no row is beside."""

    ranker: str
    """The settings that the two share, but for the held-out domains."""
    row: Row
    original: Row | None
    """None where it has not finished."""

    @property
    def adversarial(self) -> Row | None:
        """The row, unless it is the original itself."""
        return None if self.row is self.original else self.row


def held_out_lines(experiment: Experiment) -> list[Line]:
    """The lines of the tables: every finished row with an adversary, and the rows without that nothing is beside.

    The row beside it, its original, has the same settings but for those of the adversary, the weight 0, and the same
    `held_out_texts`. A row of weight 0 with `held_out_texts` is the control of these texts, whose words its
    vocabularies count: it has a line, too, beside the row without them, if there is one.
    """
    rows = [row for row in experiment.rows if row.done and HELD_OUT in row.settings]
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(_without_adversary(row), []).append(row)
    labels = [_shared_label(group) for group in groups.values()]
    targets = [held_out_of(group[0]) for group in groups.values()]
    lines: list[Line] = []
    for group, label, target in zip(groups.values(), labels, targets, strict=True):
        # Variants may be the rankers, each with and without the adversary: then the first of each names it.
        is_shared = [*zip(labels, targets, strict=True)].count((label, target)) > 1
        lines += _lines_of(group, str(group[0].settings.get(VARIANT, label)) if is_shared else label)
    rankers = [line.ranker for line in lines]
    return sorted(
        lines,
        key=lambda line: (
            rankers.index(line.ranker),
            targets.index(held_out_of(line.row)),
            has_texts(line.row),
            weight_of(line.row),
        ),
    )


def _shared_label(group: Sequence[Row]) -> str:
    """The label of the settings that rows share, but for the held-out domains; a variant may name the adversary."""
    settings = group[0].settings
    return settings_label(
        {
            key: value
            for key, value in settings.items()
            if key != HELD_OUT and not is_adversary(key) and all(row.settings[key] == value for row in group)
        }
    )


def _lines_of(group: Sequence[Row], ranker: str) -> Iterator[Line]:
    """The lines of rows that differ in their adversary alone."""
    controls = [row for row in group if not weight_of(row)]
    originals = [row for row in controls if not has_texts(row)] or controls
    lines = [Line(ranker, row, _original(row, group)) for row in group if row not in originals]
    yield from lines
    if originals and not any(line.original in originals for line in lines):
        yield Line(ranker, originals[0], originals[0])


def _original(row: Row, group: Sequence[Row]) -> Row | None:
    """The row without the adversary; of several that with the same other settings of it, else the first."""
    texts = has_texts(row) and weight_of(row) > 0
    found = [one for one in group if not weight_of(one) and has_texts(one) == texts]
    return next((one for one in found if one.setting(UPDATES) == row.setting(UPDATES)), found[0] if found else None)


def _without_adversary(row: Row) -> str:
    """Everything that decides a row's results but the adversary and the seeds."""
    settings = {key: value for key, value in row.settings.items() if not is_adversary(key) and key != VARIANT}
    config = {
        section: {key: value for key, value in content.items() if f"{section}.{key}" != SEED}
        if isinstance(content, Mapping)
        else content
        for section, content in row.done[0].config.items()
        if section not in ("adversary", "output")
    }
    return json.dumps([settings, config], sort_keys=True)


def is_adversary(key: str) -> bool:
    """Whether a dotted setting is one of the adversary."""
    return key.startswith("adversary.")


def weight_of(row: Row) -> float:
    """The weight of a row's adversary; 0 where there is none."""
    return row.setting(WEIGHT) or 0.0


def has_texts(row: Row) -> bool:
    """Whether a row's vocabularies, and its discriminator, know the texts of the held-out domains."""
    return bool(row.setting(TEXTS))


def held_out_of(row: Row) -> tuple[str, ...]:
    """The domains that a row holds out."""
    return tuple(row.settings[HELD_OUT])
