"""The report of a search: its trials as JSON, as a table and as a picture."""

import json
import shlex
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from matplotlib.figure import Figure

from components.training_report.svg import COLOURS, draw
from models.losses.settings import LossSettings
from models.rankers.settings import ScorerSettings
from models.tuning.results import SearchResults
from models.tuning.settings import EPSILON, THETA, Space

_PANEL_WIDTH: Final = 3.2
_LARGEST_RATIO: Final = 20
"""Largest ratio of the numbers on a linear axis; beyond it the axis is logarithmic."""
_TRIALS, _BEST, *_ = COLOURS


def tuning_report(results: SearchResults) -> dict[str, str]:
    """Returns the files of a search, as texts by their paths."""
    picture = draw(
        "results", "The trials", "", (_PANEL_WIDTH * len(_spaces(results)), 3), partial(paint_trials, results)
    )
    return {
        "tuning/results.json": results.to_json(),
        "tuning/results.md": to_markdown(results),
        "tuning/results.svg": picture.file,
    }


def with_best_trial(
    results: SearchResults, towers: ScorerSettings, loss: LossSettings
) -> tuple[ScorerSettings, LossSettings]:
    """Returns the settings with the values of a search's best trial."""
    settings = results.best.settings
    if EPSILON in settings:
        towers = towers.model_copy(update={"epsilon": settings[EPSILON]})
    theta = settings.get(THETA)
    if isinstance(theta, list):
        loss = loss.model_copy(update={"theta": tuple(theta)})
    return towers, loss


def to_markdown(results: SearchResults) -> str:
    """Returns a table of the trials, best first, and the arguments of `clir run` that use the best without a search."""
    ranked = results.best_first()
    names = list(ranked[0].settings)
    lines = [
        f"# A {results.search} search for {' and '.join(names)}",
        "",
        f"{results.describe_best().capitalize()}. To use it without a search:",
        "",
        "    clir run CONFIG --set tuning.search=null " + " ".join(_arguments(ranked[0].settings)),
        "",
        "![The trials](results.svg)",
        "",
        " | ".join(["| trial", *names, f"eval {results.metric} |"]),
        "|".join(["", *["---:"] * (len(names) + 2), ""]),
    ]
    for trial in ranked:
        failure = "failed: " + " ".join(str(trial.reason).split()).replace("|", r"\|")
        outcome = failure if trial.value is None else f"{trial.value:.4f}"
        values = [_numbers(trial.settings[name]) for name in names]
        lines.append(" | ".join([f"| {trial.number}", *values, f"{outcome} |"]))
    return "\n".join(lines) + "\n"


def paint_trials(results: SearchResults, figure: Figure) -> None:
    """Draws the metric over each searched number, side by side; a line joins the best trials of each value."""
    tried = [(trial.numbers, trial.value) for trial in results.best_first() if trial.value is not None]
    rows, values = zip(*tried, strict=True)
    spaces = _spaces(results)
    panels = figure.subplots(1, len(spaces), sharey=True, squeeze=False)[0]
    columns = zip(*(row.values() for row in rows), strict=True)
    for panel, name, space, numbers in zip(panels, rows[0], spaces, columns, strict=True):
        points = list(zip(numbers, values, strict=True))
        if space.listed is not None:
            best = {number: max(value for x, value in points if x == number) for number in sorted(set(numbers))}
            panel.plot(list(best), list(best.values()), color=_TRIALS, linewidth=1, zorder=1)
        panel.scatter(numbers, values, s=16, color=_TRIALS)
        panel.scatter(numbers[:1], values[:1], s=70, facecolors="none", edgecolors=_BEST, linewidths=2)
        panel.set_xlabel(name)
        if 0 < _LARGEST_RATIO * min(numbers) < max(numbers):
            panel.set_xscale("log")
    panels[0].set_ylabel(f"eval {results.metric}")


def _spaces(results: SearchResults) -> list[Space]:
    """Returns the space of each searched number."""
    return [*([results.epsilon] if results.epsilon else []), *(results.theta or ())]


def _arguments(settings: Mapping[str, Any]) -> Iterator[str]:
    """Returns the arguments that set these values exactly."""
    return ("--set " + shlex.quote(f"{name}={json.dumps(value)}") for name, value in settings.items())


def _numbers(value: Any) -> str:
    return " ".join(f"{number:g}" for number in (value if isinstance(value, list) else [value]))
