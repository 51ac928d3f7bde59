"""The results on held-out domains, without and with an adversary, in the form of Cohen et al. 2018, Tables 1 and 2."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import Final, NamedTuple

import numpy as np

from models.evaluation.metrics import METRICS
from models.evaluation.significance import RESOLUTION, holm, randomisation_test, wilcoxon_test
from smooth_clir.experiments.experiment import Experiment, Row
from smooth_clir.experiments.report.held_out_lines import (
    TEXTS,
    UPDATES,
    WEIGHT,
    Line,
    has_texts,
    held_out_lines,
    held_out_of,
    is_adversary,
    weight_of,
)
from smooth_clir.experiments.report.markdown import NOTHING, paragraph, table
from smooth_clir.experiments.report.names import setting_name, value_name
from smooth_clir.experiments.report.published_domains import published_domain_blocks
from smooth_clir.experiments.report.significance import SIGNIFICANCE, Comparison, means_over_seeds, pairs_of, values_of
from smooth_clir.experiments.settings import SEED

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
_LEAST_SHOWN: Final = 0.0001
"""Smaller p-values are shown as being below this."""
_MOST_NAMED: Final = 3
"""Up to this number of domains, those that training knows are named."""


class _Compared(NamedTuple):
    """A metric of a line, each query's value being the mean over the seeds that both rows have."""

    mean: float
    original: float
    wilcoxon: float
    randomisation: Comparison

    @property
    def text(self) -> str:
        """The mean in the paper's form.

        Example:
          >>> _Compared(0.4041, 0.3282, 0.01, Comparison(0.0759, 0.02, False)).text
          '0.404 (+23 %)†'
        """
        mark = SIGNIFICANT if self.wilcoxon < SIGNIFICANCE else ""
        return f"{self.mean:.3f} ({relative_change(self.mean, self.original)}){mark}"

    @property
    def wilcoxon_text(self) -> str:
        """Wilcoxon's p-value for a reader."""
        return f"{self.wilcoxon:.4f}" if self.wilcoxon >= _LEAST_SHOWN else f"< {_LEAST_SHOWN}"


def domain_blocks(experiment: Experiment) -> Iterator[str]:
    """The results on held-out domains; nothing where the grid has none, or no cell has finished.

    The paper's numbers follow where the experiment names one of its tables.
    """
    lines = held_out_lines(experiment)
    if not lines:
        return
    compared = _compare(lines)
    for ranker in dict.fromkeys(line.ranker for line in lines):
        shown = [line for line in lines if line.ranker == ranker]
        yield table(_caption(ranker, experiment), _heads(), _entries(shown, experiment, compared))
    yield paragraph(_explanation(lines, experiment))
    if compared:
        yield from _p_value_blocks(lines, experiment, compared)
    yield from _weight_blocks(lines)
    yield from _discriminator_blocks(lines, experiment)
    if experiment.domain_table:
        yield from published_domain_blocks(experiment.domain_table)


def relative_change(value: float, original: float) -> str:
    """The change in per cent, in whole ones from 1 % on.

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


def _compare(lines: Sequence[Line]) -> dict[tuple[str, str], _Compared]:
    """(row's label, metric) to comparison, for lines whose rows share a seed; Holm's correction covers all of them."""
    rows = {row.label: row for line in lines for row in (line.row, line.original) if row}
    values = values_of(rows.values())
    found: dict[tuple[str, str], _Compared] = {}
    for line in lines:
        seeds = pairs_of(line.row, line.original, values) if line.adversarial and line.original else []
        for metric in SHOWN if seeds else ():
            of_row, of_original = means_over_seeds(seeds, values, metric)
            p_value = randomisation_test(of_row, of_original, two_sided=True)
            difference = float(np.mean(of_row - of_original))
            found[line.row.label, metric] = _Compared(
                float(np.mean(of_row)),
                float(np.mean(of_original)),
                wilcoxon_test(of_row, of_original),
                Comparison(difference, p_value, p_value == RESOLUTION),
            )
    corrected = holm([one.randomisation.p_value for one in found.values()])
    return {
        key: one._replace(randomisation=one.randomisation._replace(p_value=p_value))
        for (key, one), p_value in zip(found.items(), corrected, strict=True)
    }


def _caption(ranker: str, experiment: Experiment) -> str:
    name = f", Table {experiment.domain_table}" if experiment.domain_table else ""
    return f"{ranker or 'Held-out domains'}, in the form of Cohen et al. 2018{name}"


def _heads() -> Sequence[str]:
    names = [METRICS[metric].name for metric in SHOWN]
    columns = (f"{which} {name}" for which in ("Original", "Adv") for name in names)
    return ("source → target", setting_name(WEIGHT), "seeds", *columns)


def _entries(
    lines: Sequence[Line], experiment: Experiment, compared: Mapping[tuple[str, str], _Compared]
) -> Iterator[Sequence[str]]:
    """The entries of a ranker's table; lines with the same domains form a group, whose first names them."""
    before = ""
    for line in lines:
        original, adversarial = [], []
        for metric in SHOWN:
            one = compared.get((line.row.label, metric))
            original.append(f"{one.original:.3f}" if one else _mean(line.original, metric))
            adversarial.append(one.text if one else _mean(line.adversarial, metric))
        domains = _domains(line.row, experiment)
        adversary = _adversary(line.row) if line.adversarial else NOTHING
        yield ("" if domains == before else domains, adversary, _seeds(line), *original, *adversarial)
        before = domains


def _mean(row: Row | None, metric: str) -> str:
    return f"{row.mean(metric):.3f}" if row else NOTHING


def _adversary(row: Row) -> str:
    """The weight of a row's adversary, and its other settings where they are not the usual ones."""
    more = {key: value for key, value in row.settings.items() if is_adversary(key) and key not in (WEIGHT, TEXTS)}
    if row.setting(UPDATES) == "alternate":
        more[UPDATES] = "alternate"
    return ", ".join(
        [value_name(weight_of(row)), *(f"{setting_name(key)} {value_name(one)}" for key, one in more.items())]
    )


def _seeds(line: Line) -> str:
    """The number of seeds that both rows have, of all."""
    of_rows = [{cell.settings.get(SEED) for cell in row.done} for row in (line.row, line.original) if row]
    both, planned = len(set.intersection(*of_rows)), len(line.row.cells)
    return f"{both}" if both == planned else f"{both} of {planned}"


def _domains(row: Row, experiment: Experiment) -> str:
    """The domains that training knows, and those that are tested."""
    held_out = held_out_of(row)
    if not held_out:
        return "All → All"
    trained = [name for name in experiment.domains if name not in held_out]
    named = f"({', '.join(trained)})" if len(trained) > 1 else "".join(trained)
    source = named if 0 < len(trained) <= _MOST_NAMED else "All*"
    return f"{source} → {', '.join(held_out)}{', with its texts' * has_texts(row)}"


def _explanation(lines: Sequence[Line], experiment: Experiment) -> str:
    """Explains the tables; says nothing of what they do not show."""
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


def _of_all_rankers(
    caption: str, heads: Sequence[str], lines: Sequence[tuple[Line, Sequence[str]]], experiment: Experiment
) -> str:
    """A table that all rankers share: where there are several, a column names them."""
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
    lines: Sequence[Line], experiment: Experiment, compared: Mapping[tuple[str, str], _Compared]
) -> Iterator[str]:
    shown = []
    for line in lines:
        of_line = [compared[key] for metric in SHOWN if (key := (line.row.label, metric)) in compared]
        if of_line:
            shown.append((line, [text for one in of_line for text in (one.wilcoxon_text, one.randomisation.p_text)]))
    heads = [f"{METRICS[metric].name}, {test}" for metric in SHOWN for test in ("Wilcoxon", "randomisation")]
    yield _of_all_rankers("p-values of Adv beside Original", heads, shown, experiment)
    bound = " ≤: no drawn sign flip gave as large a difference, and the p-value may be smaller."
    yield paragraph(
        "Both tests are two-sided, over queries. Wilcoxon's p-values are those behind the marks above. Those of the "
        f"randomisation test are after Holm's correction over all {len(compared)} comparisons of this table."
        + bound
        * any(one.randomisation.is_bound for one in compared.values())
    )


def _weight_blocks(lines: Sequence[Line]) -> Iterator[str]:
    """Each weight on the eval split, where Cohen et al. choose theirs; nothing where no ranker has several above 0."""
    rows = {row.label: (line.ranker, row) for line in lines for row in (line.original, line.row) if row}
    weights: dict[str, dict[float, list[float]]] = {}
    for ranker, row in rows.values():
        name = f"{ranker}{', with the held-out texts' * has_texts(row)}".removeprefix(", ") or NOTHING
        values = [training.best_value for training in row.trainings]
        weights.setdefault(name, {}).setdefault(weight_of(row), []).extend(values)
    entries = []
    for name, values_of_weights in weights.items():
        means = {weight: mean(values) for weight, values in sorted(values_of_weights.items()) if values}
        above = [weight for weight in means if weight > 0]
        chosen = max(above, key=means.__getitem__) if len(above) > 1 else None
        for weight, value in means.items() if chosen else ():
            figure = f"{value:.4f}{', the best above 0' * (weight == chosen)}"
            entries.append((name, value_name(weight), str(len(values_of_weights[weight])), figure))
    if entries:
        yield table("The weight on the eval split", ("Ranker", setting_name(WEIGHT), "trainings", "mean"), entries)
        yield paragraph(
            "Means over the held-out domains and the seeds of training.best_metric in the best epoch, on eval lists of "
            "the domains that training knows. Cohen et al. choose their weight on validation lists."
        )


def _discriminator_blocks(lines: Sequence[Line], experiment: Experiment) -> Iterator[str]:
    """The discriminator's accuracy and both gradients; nothing where no training has these figures."""
    shown = []
    for line in lines:
        of_seeds = [training.best.figures for training in line.row.trainings]
        if not of_seeds:
            continue
        means = [
            f"{mean(one[key] for one in of_seeds):.3g}" if all(key in one for one in of_seeds) else NOTHING
            for key in _FIGURES
        ]
        if {*means} != {NOTHING}:
            shown.append((line, means))
    if shown:
        caption = "The discriminator in the best epoch: means over the seeds"
        yield _of_all_rankers(caption, [*_FIGURES.values()], shown, experiment)
        yield paragraph(
            "Accuracy is the share of pairs whose domain the discriminator names; a constant answer has the share of "
            "the largest domain, and above it the discriminator tells domains apart. Gradients are norms before "
            "clipping, in the ranker's variables; that of the adversary has its weight."
        )
