"""Reports results on held-out domains, without and with an adversary, as in Cohen et al. 2018, Tables 1 and 2."""

import json
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import Final, NamedTuple

import numpy as np

from models.evaluation.metrics import METRICS
from models.evaluation.significance import RESOLUTION, Comparison, holm, randomisation_test, wilcoxon_test
from smooth_clir.experiments.experiment import Experiment, Row
from smooth_clir.experiments.report.markdown import NOTHING, paragraph, table
from smooth_clir.experiments.report.names import setting_name, settings_label, value_name
from smooth_clir.experiments.report.published import Published, published_blocks
from smooth_clir.experiments.report.significance import (
    BOUND_NOTE,
    SIGNIFICANCE,
    means_over_seeds,
    pairs_of,
    values_of,
)
from smooth_clir.experiments.settings import HELD_OUT, SEED, VARIANT

_ADVERSARY: Final = "adversary."
WEIGHT: Final = f"{_ADVERSARY}weight"
TEXTS: Final = f"{_ADVERSARY}held_out_texts"
UPDATES: Final = f"{_ADVERSARY}updates"
SHOWN: Final = ("p_mr_1", "mrr_mr", "ndcg_5")
"""The paper's P@1 and MRR, and NDCG@5."""
SIGNIFICANT: Final = "†"
_FIGURES: Final = {
    "train/domain_accuracy": "accuracy",
    "train/largest_domain_share": "share of the largest domain",
    "train/relevance_gradient_norm": "gradient of the ranking loss",
    "train/adversary_gradient_norm": "gradient of the adversary",
}
"""Figures of a training's epoch to their columns."""
_MIN_P_VALUE: Final = 0.0001
"""The smallest p-value that is shown; a smaller p-value is shown as "< 0.0001"."""
_MAX_NAMES: Final = 3
"""The largest number of trained domains that are named."""


class Line(NamedTuple):
    """A row with an adversary and its original, the same ranker without an adversary; or only an original."""

    ranker: str
    """The settings that both rows share, except the held-out domains."""
    row: Row
    original: Row | None
    """The original; None before it has finished."""

    @property
    def adversarial(self) -> Row | None:
        """The row, unless it is the original itself."""
        return None if self.row is self.original else self.row


def held_out_lines(experiment: Experiment) -> list[Line]:
    """Returns the lines of the tables: every finished row with an adversary, and each original without such a row.

    The original of a row has the weight 0, the same `held_out_texts`, and the same settings outside of the adversary.
    A row of weight 0 with `held_out_texts` is the control of these texts, whose words its vocabularies count; its
    original is the row without the texts, if it exists.
    """
    rows = [row for row in experiment.rows if row.done and HELD_OUT in row.settings]
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(_without_adversary(row), []).append(row)
    labels = [_shared_label(group) for group in groups.values()]
    targets = [group[0].settings[HELD_OUT] for group in groups.values()]
    lines: list[Line] = []
    for group, label, target in zip(groups.values(), labels, targets, strict=True):
        # The variants may be rankers, each with and without the adversary; then the first variant names the ranker.
        is_shared = [*zip(labels, targets, strict=True)].count((label, target)) > 1
        lines += _lines_of(group, str(group[0].settings.get(VARIANT, label)) if is_shared else label)
    rankers = [line.ranker for line in lines]

    def order(line: Line) -> tuple[float, ...]:
        target = targets.index(line.row.settings[HELD_OUT])
        return rankers.index(line.ranker), target, has_texts(line.row), weight_of(line.row)

    return sorted(lines, key=order)


def _shared_label(group: Sequence[Row]) -> str:
    """Returns the label of the settings that rows share, except held-out domains; a variant may name the adversary."""
    first = group[0].settings
    keys = (key for key in first if key != HELD_OUT and not key.startswith(_ADVERSARY))
    return settings_label({key: first[key] for key in keys if all(row.settings[key] == first[key] for row in group)})


def _lines_of(group: Sequence[Row], ranker: str) -> Iterator[Line]:
    """Yields the lines of rows that differ only in their adversary."""
    controls = [row for row in group if not weight_of(row)]
    originals = [row for row in controls if not has_texts(row)] or controls
    lines = [Line(ranker, row, _original(row, group)) for row in group if row not in originals]
    yield from lines
    if originals and not any(line.original in originals for line in lines):
        yield Line(ranker, originals[0], originals[0])


def _original(row: Row, group: Sequence[Row]) -> Row | None:
    """Returns the row without the adversary, preferably with the same updates, else the first."""
    texts = has_texts(row) and weight_of(row) > 0
    originals = [original for original in group if not weight_of(original) and has_texts(original) == texts]
    originals.sort(key=lambda original: original.setting(UPDATES) != row.setting(UPDATES))
    return originals[0] if originals else None


def _without_adversary(row: Row) -> str:
    """Returns everything that decides a row's results, except the adversary and the seeds, as JSON."""
    settings = {key: value for key, value in row.settings.items() if not key.startswith(_ADVERSARY) and key != VARIANT}
    config = {
        section: {key: value for key, value in content.items() if f"{section}.{key}" != SEED}
        if isinstance(content, Mapping)
        else content
        for section, content in row.done[0].config.items()
        if section not in ("adversary", "output")
    }
    return json.dumps([settings, config], sort_keys=True)


def weight_of(row: Row) -> float:
    """Returns the weight of a row's adversary; 0 without an adversary."""
    return row.setting(WEIGHT) or 0.0


def has_texts(row: Row) -> bool:
    """Returns whether a row's vocabularies and discriminator use the texts of the held-out domains."""
    return bool(row.setting(TEXTS))


class _Change(NamedTuple):
    """A metric of both rows of a line; a query's value is the mean over the seeds that both rows have."""

    mean: float
    original: float
    wilcoxon: float
    randomisation: Comparison

    @property
    def text(self) -> str:
        """The mean in the paper's form.

        Example:
          >>> _Change(0.4041, 0.3282, 0.01, Comparison(0.0759, 0.02, False)).text
          '0.404 (+23 %)†'
        """
        mark = SIGNIFICANT if self.wilcoxon < SIGNIFICANCE else ""
        return f"{self.mean:.3f} ({relative_change(self.mean, self.original)}){mark}"

    @property
    def wilcoxon_text(self) -> str:
        """Wilcoxon's p-value for a reader."""
        return f"{self.wilcoxon:.4f}" if self.wilcoxon >= _MIN_P_VALUE else f"< {_MIN_P_VALUE}"


def domain_blocks(experiment: Experiment) -> Iterator[str]:
    """Yields the results on held-out domains, then the published numbers; nothing without finished cells on them."""
    lines = held_out_lines(experiment)
    if not lines:
        return
    changes = _compare(lines)
    for ranker in dict.fromkeys(line.ranker for line in lines):
        ranker_lines = [line for line in lines if line.ranker == ranker]
        yield table(_caption(ranker, experiment), _heads(), _entries(ranker_lines, experiment, changes))
    yield paragraph(_explanation(lines, experiment))
    if changes:
        yield from _p_value_blocks(lines, experiment, changes)
    yield from _weight_blocks(lines)
    yield from _discriminator_blocks(lines, experiment)
    if published := _published(experiment):
        yield from published_blocks(published, experiment.rows)


def relative_change(value: float, original: float) -> str:
    """Returns the change in per cent, without decimals from 1 % on.

    Example:
      >>> relative_change(0.4041, 0.3282), relative_change(0.6214, 0.6188), relative_change(0.3, 0.3)
      ('+23 %', '+0.4 %', '±0 %')
      >>> relative_change(0.1, 0)
      '–'
    """
    if not original:
        return NOTHING
    change = 100 * (value / original - 1)
    tenths = f"{change:+.1f}"
    if not float(tenths):
        return "±0 %"
    return f"{change:+.0f} %" if abs(float(tenths)) >= 1 else f"{tenths} %"


def _compare(lines: Sequence[Line]) -> dict[tuple[str, str], _Change]:
    """Returns (row's label, metric) to change, for lines whose rows share a seed; Holm's correction covers them all."""
    rows = {row.label: row for line in lines for row in (line.row, line.original) if row}
    values = values_of(rows.values())
    changes: dict[tuple[str, str], _Change] = {}
    for line in lines:
        seeds = pairs_of(line.row, line.original, values) if line.adversarial and line.original else []
        for metric in SHOWN if seeds else ():
            row_values, original_values = means_over_seeds(seeds, values, metric)
            p_value = randomisation_test(row_values, original_values, two_sided=True)
            difference = float(np.mean(row_values - original_values))
            changes[line.row.label, metric] = _Change(
                float(np.mean(row_values)),
                float(np.mean(original_values)),
                wilcoxon_test(row_values, original_values),
                Comparison(difference, p_value, p_value == RESOLUTION),
            )
    corrected = holm([change.randomisation.p_value for change in changes.values()])
    return {
        key: change._replace(randomisation=change.randomisation._replace(p_value=p_value))
        for (key, change), p_value in zip(changes.items(), corrected, strict=True)
    }


def _caption(ranker: str, experiment: Experiment) -> str:
    published = _published(experiment)
    return f"{ranker or 'Held-out domains'}, in the form of {published.source if published else 'Cohen et al. 2018'}"


def _published(experiment: Experiment) -> Published | None:
    """Returns the published numbers of held-out domains."""
    return experiment.published if experiment.published and experiment.published.held_out else None


def _heads() -> Sequence[str]:
    columns = (f"{system} {METRICS[metric].name}" for system in ("Original", "Adv") for metric in SHOWN)
    return ("source → target", setting_name(WEIGHT), "seeds", *columns)


def _entries(
    lines: Sequence[Line], experiment: Experiment, changes: Mapping[tuple[str, str], _Change]
) -> Iterator[Sequence[str]]:
    """Yields the entries of a ranker's table; only the first line of the same domains names them."""
    previous = ""
    for line in lines:
        original, adversarial = [], []
        for metric in SHOWN:
            change = changes.get((line.row.label, metric))
            original.append(f"{change.original:.3f}" if change else _mean(line.original, metric))
            adversarial.append(change.text if change else _mean(line.adversarial, metric))
        domains = _domains(line.row, experiment)
        adversary = _adversary(line.row) if line.adversarial else NOTHING
        yield ("" if domains == previous else domains, adversary, _seeds(line), *original, *adversarial)
        previous = domains


def _mean(row: Row | None, metric: str) -> str:
    return f"{row.mean(metric):.3f}" if row else NOTHING


def _adversary(row: Row) -> str:
    """Returns the weight of a row's adversary, and its unusual settings."""
    keys = [key for key in row.settings if key.startswith(_ADVERSARY) and key not in (WEIGHT, TEXTS)]
    settings = {key: row.settings[key] for key in keys}
    if row.setting(UPDATES) == "alternate":
        settings[UPDATES] = "alternate"
    texts = (f"{setting_name(key)} {value_name(value)}" for key, value in settings.items())
    return ", ".join([value_name(weight_of(row)), *texts])


def _seeds(line: Line) -> str:
    """Returns the number of seeds that both rows have, and of all if it is larger."""
    row_seeds = [{cell.settings.get(SEED) for cell in row.done} for row in (line.row, line.original) if row]
    shared, planned = len(set.intersection(*row_seeds)), len(line.row.cells)
    return f"{shared}" if shared == planned else f"{shared} of {planned}"


def _domains(row: Row, experiment: Experiment) -> str:
    """Returns the domains of training, and those of the test."""
    held_out = row.settings[HELD_OUT]
    if not held_out:
        return "All → All"
    trained = [name for name in experiment.domains if name not in held_out]
    names = f"({', '.join(trained)})" if len(trained) > 1 else "".join(trained)
    source = names if 0 < len(trained) <= _MAX_NAMES else "All*"
    return f"{source} → {', '.join(held_out)}{', with its texts' * has_texts(row)}"


def _explanation(lines: Sequence[Line], experiment: Experiment) -> str:
    """Explains what the tables show."""
    parts = [
        "Trained on the domains before the arrow, tested on those after it. Original is the ranker without the "
        "adversary (w = 0), Adv the same with it: means over the seeds that both have, and the change relative to "
        f"Original. {SIGNIFICANT} marks p < {SIGNIFICANCE} of Wilcoxon's signed-rank test over queries (two-sided, "
        "zeros as Pratt), which as in the paper is not corrected for the number of comparisons."
    ]
    if any("All*" in _domains(line.row, experiment) for line in lines):
        parts.append(" All* are all domains but those held out.")
    if any(has_texts(line.row) for line in lines):
        parts.append(
            " With its texts: the vocabularies count the words of the held-out domain's train texts, and the "
            "discriminator sees them. Original has these vocabularies, too."
        )
    if any(line.adversarial and not weight_of(line.row) for line in lines):
        parts.append(" A line w = 0 has no adversary: it shows what these vocabularies alone change.")
    return "".join(parts)


def _shared_table(
    caption: str, heads: Sequence[str], lines: Sequence[tuple[Line, Sequence[str]]], experiment: Experiment
) -> str:
    """Makes a table of all rankers, with a column for their names if there are several."""
    several = len({line.ranker for line, _ in lines}) > 1
    return table(
        caption,
        (*["Ranker"] * several, "source → target", setting_name(WEIGHT), *heads),
        (
            (*[line.ranker] * several, _domains(line.row, experiment), _adversary(line.row), *entries)
            for line, entries in lines
        ),
    )


def _p_value_blocks(
    lines: Sequence[Line], experiment: Experiment, changes: Mapping[tuple[str, str], _Change]
) -> Iterator[str]:
    shown = []
    for line in lines:
        line_changes = [changes[key] for metric in SHOWN if (key := (line.row.label, metric)) in changes]
        if line_changes:
            pairs = ((change.wilcoxon_text, change.randomisation.p_text) for change in line_changes)
            shown.append((line, [text for pair in pairs for text in pair]))
    heads = [f"{METRICS[metric].name}, {test}" for metric in SHOWN for test in ("Wilcoxon", "randomisation")]
    yield _shared_table("p-values of Adv beside Original", heads, shown, experiment)
    yield paragraph(
        "Both tests are two-sided, over queries. Wilcoxon's p-values are those behind the marks above. Those of the "
        f"randomisation test are after Holm's correction over all {len(changes)} comparisons of this table."
        + BOUND_NOTE
        * any(change.randomisation.is_bound for change in changes.values())
    )


def _weight_blocks(lines: Sequence[Line]) -> Iterator[str]:
    """Yields each weight's metric on the eval split, where Cohen et al. choose theirs.

    Nothing unless a ranker has several weights above 0.
    """
    rows = {row.label: (line.ranker, row) for line in lines for row in (line.original, line.row) if row}
    weights: dict[str, dict[float, list[float]]] = {}
    for ranker, row in rows.values():
        name = f"{ranker}{', with the held-out texts' * has_texts(row)}".removeprefix(", ") or NOTHING
        values = [training.best_value for training in row.trainings]
        weights.setdefault(name, {}).setdefault(weight_of(row), []).extend(values)
    entries = []
    for name, weight_values in weights.items():
        means = {weight: mean(values) for weight, values in sorted(weight_values.items()) if values}
        above = [weight for weight in means if weight > 0]
        best = max(above, key=means.__getitem__) if len(above) > 1 else None
        for weight, value in means.items() if best else ():
            figure = f"{value:.4f}{', the best above 0' * (weight == best)}"
            entries.append((name, value_name(weight), str(len(weight_values[weight])), figure))
    if entries:
        yield table("The weight on the eval split", ("Ranker", setting_name(WEIGHT), "trainings", "mean"), entries)
        yield paragraph(
            "Means over the held-out domains and the seeds of training.best_metric in the best epoch, on eval lists of "
            "the domains that training knows. Cohen et al. choose their weight on validation lists."
        )


def _discriminator_blocks(lines: Sequence[Line], experiment: Experiment) -> Iterator[str]:
    """Yields the discriminator's accuracy and both gradients; nothing if no training has these figures."""
    shown = []
    for line in lines:
        figures = [training.best.figures for training in line.row.trainings]
        known = [key for key in _FIGURES if figures and all(key in seed_figures for seed_figures in figures)]
        if known:
            means = {key: f"{mean(seed_figures[key] for seed_figures in figures):.3g}" for key in known}
            shown.append((line, [means.get(key, NOTHING) for key in _FIGURES]))
    if shown:
        caption = "The discriminator in the best epoch: means over the seeds"
        yield _shared_table(caption, [*_FIGURES.values()], shown, experiment)
        yield paragraph(
            "Accuracy is the share of pairs whose domain the discriminator names; a constant answer has the share of "
            "the largest domain, and above it the discriminator tells domains apart. Gradients are norms before "
            "clipping, in the ranker's variables; that of the adversary has its weight."
        )
