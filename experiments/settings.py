"""Settings of an experiment. Importing this file does not import TensorFlow."""

from collections.abc import Iterator
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator

from pipeline.config import RunConfig
from pipeline.settings_file import known_keys
from schemas.did_you_mean import did_you_mean
from schemas.settings import Settings


def _may_vary(key: str) -> str:
    """A dotted setting of a run that changes neither its inputs nor its lists nor its vocabularies."""
    known = known_keys(RunConfig)
    if key not in known:
        raise ValueError(f"must be a setting of a run, as section.key; got {key!r}{did_you_mean(key, known)}")
    if key == "output":
        raise ValueError("must not vary: every cell has a folder of its own under the experiment's output")
    shared = ("model.vocabulary_size", "lexicon.pairs", "lexicon.sha256")
    if (key.startswith(("data.", "embeddings.")) and key != "data.used_negatives") or key in shared:
        raise ValueError(
            "must not vary: cells share inputs, lists and vocabularies, and this setting changes them; make another "
            "experiment of it (data.used_negatives may vary)"
        )
    return key


def _differ(values: list[Any]) -> list[Any]:
    """The values of one setting, each of which comes once."""
    twice = [value for place, value in enumerate(values) if value in values[:place]]
    if twice:
        raise ValueError(f"must hold every value once; got {twice[0]!r} twice")
    return values


VaryingKey = Annotated[str, AfterValidator(_may_vary)]


class Adjustment(Settings):
    """Settings that follow from others in some cells."""

    when: Annotated[dict[str, Any], Field(min_length=1)]
    """Settings of the grid to values of theirs: the cells that have all of these are adjusted."""
    set: Annotated[dict[VaryingKey, Any], Field(min_length=1)]
    """Settings, dotted and outside the grid, to the values that those cells get."""


class ExperimentSettings(Settings):
    """A grid of settings, each cell of which is a run on the same prepared data."""

    title: Annotated[str, Field(min_length=1)]
    """What the report is called."""
    run: str | dict[str, Any]
    """The run that the grid varies: the path of its file, or its settings here; `output` is the experiment's."""
    grid: Annotated[
        dict[VaryingKey, Annotated[list[Any], Field(min_length=1), AfterValidator(_differ)]], Field(min_length=1)
    ]
    """Dotted settings of a run, or `preset`, to their values; cells are all combinations, the last setting varying
    fastest."""
    adjust: tuple[Adjustment, ...] = ()
    """What changes besides in some cells, such as the epochs that an encoder needs; a later one wins."""
    paper_language: Literal["fr", "it", "sw", "tl"] | None = None
    """The document language of the paper's collection that this is; its published numbers stand in the report."""
    output: Annotated[str, Field(min_length=1)]
    """Folder of everything the experiment writes."""

    @field_validator("run", mode="before")
    @classmethod
    def _run_is_a_path_or_settings(cls, run: Any) -> Any:
        if not run or not isinstance(run, str | dict):
            raise ValueError(f"must be the path of a run's file, or the settings of a run; got {run!r}")
        return run

    def combinations(self) -> Iterator[dict[str, Any]]:
        """The grid's values of every cell, in order.

        Example:
          >>> settings = ExperimentSettings(
          ...     title="t", run="run.yaml", grid={"loss.name": ["sosl", "mse"], "training.seed": [1, 2]}, output="out"
          ... )
          >>> [tuple(cell.values()) for cell in settings.combinations()]
          [('sosl', 1), ('sosl', 2), ('mse', 1), ('mse', 2)]
        """
        for values in product(*self.grid.values()):
            yield dict(zip(self.grid, values, strict=True))

    def adjusted(self, cell: dict[str, Any]) -> dict[str, Any]:
        """The values of a cell with those that its adjustments add."""
        adjusted = dict(cell)
        for adjustment in self.adjust:
            if adjustment.when.items() <= cell.items():
                adjusted.update(adjustment.set)
        return adjusted

    def adjustment_faults(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """What is at fault with adjustments beside the grid: (keys, fault)."""
        for number, adjustment in enumerate(self.adjust):
            for key, value in adjustment.when.items():
                if key not in self.grid:
                    hint = did_you_mean(key, self.grid)
                    fault = f"must be a setting of the grid ({', '.join(self.grid)}); got {key!r}{hint}"
                elif value not in self.grid[key]:
                    fault = f"must be a value that the grid has; got {value!r} and {self.grid[key]}"
                else:
                    continue
                yield ("adjust", str(number), "when", key), fault
            for key in adjustment.set:
                if key in self.grid:
                    yield ("adjust", str(number), "set", key), "must not be a setting of the grid, which has its values"
