"""Settings of an experiment. Importing this file does not import TensorFlow."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, Field, field_validator

from components.settings import BASELINES
from models.choices import ENCODER, FIRST_PASS
from models.evaluation.metrics import METRICS
from models.lexicon.settings import MatchingSettings
from models.rankers.settings import ScorerSettings, SimilaritySettings
from pipeline.config import RunConfig
from pipeline.renamed_settings import RENAMED
from pipeline.settings_file import known_keys
from schemas.settings import OneOf, OutputPath, Settings, did_you_mean

HELD_OUT: Final = "data.held_out"
_FILTERS: Final = ("data.used_negatives", HELD_OUT)
"""The settings of the data that select from the lists that cells share."""


def _check_may_vary(key: str) -> str:
    """Returns a dotted setting of a run that changes neither inputs nor lists; refuses any other setting."""
    known = known_keys(RunConfig)
    if key in RENAMED:
        raise ValueError(f"is written {RENAMED[key]} now; got {key!r}")
    if key not in known:
        raise ValueError(f"must be a setting of a run, as section.key; got {key!r}{did_you_mean(key, known)}")
    if key == "output":
        raise ValueError("must not vary: every cell has its own folder under the experiment's output")
    if key.startswith("kubeflow."):
        raise ValueError("must not vary: every cell runs on this machine")
    is_file = key.endswith((".pairs", ".path", ".query_vectors", ".document_vectors")) or ".sha256" in key
    if (key.startswith(("data.", "embeddings.")) and key not in _FILTERS) or is_file:
        raise ValueError(
            "must not vary: cells share inputs and lists, which this setting changes; make another experiment "
            f"({' and '.join(_FILTERS)} may vary)"
        )
    return key


def _check_unique(values: list[Any]) -> list[Any]:
    """Returns the values of a setting; refuses repeated values."""
    twice = [value for number, value in enumerate(values) if value in values[:number]]
    if twice:
        raise ValueError(f"must hold every value once; got {twice[0]!r} twice")
    return values


def _check_published(name: str) -> str:
    """Returns the name of published numbers, or the path of their file; refuses other names."""
    return name if name.endswith(".yaml") else OneOf(sorted(file.stem for file in PUBLISHED.glob("*.yaml")))(name)


VaryingKey = Annotated[str, AfterValidator(_check_may_vary)]

PUBLISHED: Final = Path(__file__).with_name("published")
"""The folder of published numbers, a file for each table."""
OLD_SETTINGS: Final = {"paper_language": "wikiclir_fr", "psi_table": "psi_table_6", "domain_table": "domains_table_1"}
"""Former settings of published numbers, with a present value of `published` each."""
SEED: Final = "training.seed"
VARIANT: Final = "variant"
"""The key of the variants among the grid's keys."""
BASELINE: Final = "baseline"
"""The key of a baseline that a claim compares a row with."""
CHANNEL: Final = "channel"
"""The key of a row's own channel that a claim compares the row with."""
_SIMILARITIES: Final = get_args(SimilaritySettings.model_fields["similarity"].annotation)
_SYSTEMS: Final = {
    BASELINE: (*BASELINES,),
    CHANNEL: (
        *(FIRST_PASS, ENCODER, *MatchingSettings.kinds, *_SIMILARITIES),
        *sorted(ScorerSettings.kinds.keys() - {"two_towers"}),
    ),
}
"""The systems that a claim may compare a row with, besides other rows, by their key."""


class Adjustment(Settings):
    """Settings that depend on other settings of a cell."""

    when: Annotated[dict[str, Any], Field(min_length=1)]
    """Settings of the grid, or `variant`, to values; cells with all of these values are adjusted."""
    set: Annotated[dict[VaryingKey, Any], Field(min_length=1)]
    """Dotted settings outside the grid to their values in these cells."""


class Claim(Settings):
    """A claim that gets a verdict at the head of the report."""

    says: Annotated[str, Field(min_length=1)]
    """The claim, a sentence."""
    row: Annotated[dict[str, Any], Field(min_length=1)]
    """Settings of the grid, or `variant`, to the values of a row, without the seed."""
    than: Annotated[tuple[Annotated[dict[str, Any], Field(min_length=1)], ...], Field(min_length=1)]
    """The rows that this row is compared with, in the form of `row`; or `baseline` and its name; or `channel` and the
    name of a channel of this row, except further `channels`, or `first_pass`."""
    metrics: Annotated[tuple[Annotated[str, AfterValidator(OneOf(METRICS))], ...], Field(min_length=1)]
    """The metrics that are compared on the test split."""
    direction: Literal["above", "below"] = "above"
    """Whether the row's metrics are above or below those of the other rows."""
    margin: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Smallest difference of the metrics."""


class ExperimentSettings(Settings):
    """A grid of settings; every cell is a run on the same prepared data."""

    title: Annotated[str, Field(min_length=1)]
    """Title of the report."""
    run: str | dict[str, Any]
    """The run that the grid varies: the path of its file, or its settings here; `output` is the experiment's."""
    variants: dict[str, dict[VaryingKey, Any]] = {}
    """Names of variants, such as `without prefixes`, to the dotted settings of each, outside the grid; `{}` is the run
    as it is. Every variant goes through the whole grid, and all are compared with the first."""
    grid: Annotated[
        dict[VaryingKey, Annotated[list[Any], Field(min_length=1), AfterValidator(_check_unique)]], Field(min_length=1)
    ]
    """Dotted settings of a run, or `preset`, to their values; cells are all combinations, the last setting varying
    fastest."""
    adjust: tuple[Adjustment, ...] = ()
    """Further changes in some cells, such as the epochs that an encoder needs; later adjustments override earlier
    ones."""
    claims: tuple[Claim, ...] = ()
    """Claims of the experiment; the report opens with a verdict on each."""
    published: Annotated[str, AfterValidator(_check_published)] | None = None
    """Published numbers that the report shows beside ours: the name of a file in `smooth_clir/experiments/published`,
    such as `wikiclir_fr`, `psi_table_6` or `domains_table_1`, or the path of your own, which ends in `.yaml`."""
    output: Annotated[str, Field(min_length=1), OutputPath()]
    """Folder of everything the experiment writes."""

    @field_validator("run", mode="before")
    @classmethod
    def _check_run(cls, run: Any) -> Any:
        if not run or not isinstance(run, str | dict):
            raise ValueError(f"must be the path of a run's file, or the settings of a run; got {run!r}")
        return run

    @property
    def axes(self) -> dict[str, list[Any]]:
        """The varying settings to their values: the names of the variants, and the grid."""
        return {VARIANT: [*self.variants], **self.grid} if self.variants else self.grid

    def combinations(self) -> Iterator[dict[str, Any]]:
        """Yields the values of every cell, in order.

        Example:
          >>> settings = ExperimentSettings(
          ...     title="t", run="run.yaml", grid={"loss.kind": ["sosl", "mse"], "training.seed": [1, 2]}, output="out"
          ... )
          >>> [tuple(cell.values()) for cell in settings.combinations()]
          [('sosl', 1), ('sosl', 2), ('mse', 1), ('mse', 2)]
        """
        for values in product(*self.axes.values()):
            yield dict(zip(self.axes, values, strict=True))

    def adjusted(self, cell: dict[str, Any]) -> dict[str, Any]:
        """Returns the settings of a cell: the values of the grid, of its variant and of its adjustments."""
        adjusted = {key: value for key, value in cell.items() if key != VARIANT}
        adjusted.update(self.variants.get(cell.get(VARIANT, ""), {}))
        for adjustment in self.adjust:
            if adjustment.when.items() <= cell.items():
                adjusted.update(adjustment.set)
        return adjusted

    def faults(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yields (keys, fault) for variants, adjustments and claims that do not fit the grid."""
        for number, adjustment in enumerate(self.adjust):
            yield from self._faults_of_values(("adjust", str(number), "when"), adjustment.when)
        yield from self._faults_of_claims()
        added: list[tuple[tuple[str, ...], dict[str, Any]]] = [
            *((("adjust", str(number), "set"), adjustment.set) for number, adjustment in enumerate(self.adjust)),
            *((("variants", name), settings) for name, settings in self.variants.items()),
        ]
        for keys, settings in added:
            for key in settings.keys() & self.grid.keys():
                yield (*keys, key), "must not be a setting of the grid, which sets its values"
        for name, settings in self.variants.items():
            for key in settings:
                if key.startswith("data."):
                    yield ("variants", name, key), "must vary in the grid: rows with different lists are not compared"

    def _faults_of_values(self, keys: tuple[str, ...], chosen: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yields the faults of settings that must be settings of the grid, with values of the grid."""
        for key, value in chosen.items():
            if key not in self.axes:
                hint = did_you_mean(key, self.axes)
                yield (*keys, key), f"must be a setting of the grid ({', '.join(self.axes)}); got {key!r}{hint}"
            elif value not in self.axes[key]:
                yield (*keys, key), f"must be a value of the grid ({self.axes[key]}); got {value!r}"

    def _faults_of_claims(self) -> Iterator[tuple[tuple[str, ...], str]]:
        choices = {key for key, values in self.axes.items() if len(values) > 1} - {SEED}
        for number, claim in enumerate(self.claims):
            path = ("claims", str(number))
            rivals = [((*path, "than", str(position)), row) for position, row in enumerate(claim.than)]
            for keys, row in [((*path, "row"), claim.row), *rivals]:
                if row is not claim.row and (system := {BASELINE, CHANNEL} & row.keys()):
                    yield from _faults_of_system(keys, row, min(system))
                    continue
                yield from self._faults_of_values(keys, row)
                if SEED in row:
                    yield (*keys, SEED), "must be left out: a row has all seeds"
                if lacking := choices - row.keys():
                    yield keys, f"must name a single row; {min(lacking)} is missing"
            for keys, row in rivals:
                if row == claim.row:
                    yield keys, "must be another row than the claim's own"


def _faults_of_system(keys: tuple[str, ...], row: dict[str, Any], kind: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yields the faults of a baseline or a channel that a claim compares a row with."""
    names = _SYSTEMS[kind]
    if len(row) > 1:
        yield keys, f"must name only the {kind}; got {', '.join(row)}"
    if row[kind] not in names:
        hint = did_you_mean(str(row[kind]), names)
        yield (*keys, kind), f"must be one of {', '.join(names)}; got {row[kind]!r}{hint}"
