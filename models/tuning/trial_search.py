"""The search for the best epsilon and theta: KerasTuner chooses the numbers of each trial, which is a training."""

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import keras_tuner
import tensorflow as tf
from keras_tuner.engine import base_tuner  # KerasTuner has no shorter public path to this class

from models.training.settings import TrainingSettings
from models.tuning.results import SearchResults, Trial
from models.tuning.settings import TuningSettings, describe_settings, searched_settings
from schemas.errors import DataError, WorkerDied
from schemas.json_files import parse_json

log = logging.getLogger("clir.training")
progress_log = logging.getLogger("clir.progress")

Numbers = Mapping[str, float]
"""The numbers of a trial, by the names in `TuningSettings.spaces`."""

_ORACLES: Final = {
    "grid": keras_tuner.oracles.GridSearchOracle,
    "random": keras_tuner.oracles.RandomSearchOracle,
    "bayesian": keras_tuner.oracles.BayesianOptimizationOracle,
}
_TRIALS_FILE: Final = "trials.json"


class TrialSearch(base_tuner.BaseTuner):
    """A KerasTuner tuner whose trials are trainings, and which resumes after a kill.

    The next trial follows from the seed and the results so far. A resumed search therefore asks KerasTuner for the same
    trials again, takes finished trials from its folder, and ends as an uninterrupted search does. (KerasTuner's own
    reloading loses a grid's order and a Bayesian search's random state.)

    Args:
      settings: the settings of the search, whose `search` is not None.
      training: the settings of a trial's training.
      epochs: the epochs of a trial.
      train: trains with a trial's numbers, and returns the best value of `best_metric`. Its second argument is the
        trial's folder, which still holds the files of a killed call with the same numbers.
      folder: the folder of unfinished trials and of the results so far; another search needs another folder, and so
        does the same search with other data, settings or code.
      working_dir: the folder of KerasTuner's files, which are not needed later.

    Attributes:
      trials: the finished trials, in order.
    """

    def __init__(
        self,
        settings: TuningSettings,
        training: TrainingSettings,
        epochs: int,
        train: Callable[[Numbers, str], float],
        folder: str,
        working_dir: str,
    ) -> None:
        oracle = _ORACLES[settings.search or ""](
            objective=keras_tuner.Objective(training.best_metric, "max"),
            max_trials=settings.max_trials,
            # KerasTuner would replace a seed of 0 by a random one.
            seed=training.seed + 1,
            hyperparameters=_hyperparameters(settings),
            # A training that diverges is a result, too: other trials may do better.
            max_consecutive_failed_trials=sys.maxsize,
        )
        oracle.verbose = 0
        super().__init__(oracle, directory=working_dir, project_name="search", overwrite=True)
        self.folder = folder
        self.trials: list[Trial] = []
        self._settings, self._training, self._epochs, self._train = settings, training, epochs, train
        self._file = os.path.join(folder, _TRIALS_FILE)
        self._known: list[Trial] = []
        if tf.io.gfile.exists(self._file):
            with tf.io.gfile.GFile(self._file) as file:
                self._known = [Trial.model_validate(trial) for trial in parse_json(file.read())]
            log.info("resuming after trial %d of an earlier run", len(self._known))

    def run_trial(self, trial: Any) -> float:
        """Tries a trial's numbers, and returns the best value of the metric.

        Raises:
          FailedTrialError: the training failed with these numbers.
          FatalError: the training failed for another reason, which ends the search.
        """
        numbers = {name: trial.hyperparameters.values[name] for name in self._settings.spaces}
        number, tried = len(self.trials) + 1, searched_settings(numbers)
        try:
            # Takes the results of a killed search, and of numbers that a Bayesian search asks for again.
            known = [(trial.value, trial.reason) for trial in self._known if trial.settings == tried]
            value, reason = known[0] if known else self._try(number, numbers)
            self.trials.append(Trial(number=number, settings=tried, value=value, reason=reason))
            if number > len(self._known):
                self._log_and_keep()
        except Exception as error:
            # KerasTuner would count any other error as a failed trial.
            raise keras_tuner.errors.FatalError(str(error)) from error
        if value is None:
            raise keras_tuner.errors.FailedTrialError(reason)
        return value

    def on_search_end(self) -> None:
        """Checks that a trial succeeded.

        Raises:
          DataError: every trial failed.
        """
        if all(trial.value is None for trial in self.trials):
            raise DataError(f"all {len(self.trials)} trials of the search failed: {self.trials[-1].reason}")

    def results(self) -> SearchResults:
        """The search and its trials."""
        return SearchResults(
            metric=self._training.best_metric,
            search=self._settings.search or "",
            epochs=self._epochs,
            epsilon=self._settings.epsilon,
            theta=self._settings.theta,
            trials=tuple(self.trials),
        )

    def _try(self, number: int, numbers: Numbers) -> tuple[float | None, str | None]:
        """The best value of a training, or the reason of its failure."""
        with _before_progress(f"trial {number}/{self._settings.max_trials}"):
            try:
                return self._train(numbers, os.path.join(self.folder, f"trial_{number}")), None
            except WorkerDied:
                raise  # the numbers are not the reason
            except DataError as error:
                return None, str(error)

    def _log_and_keep(self) -> None:
        """Logs the last trial, replaces the file of all trials in one step, and deletes the folder of its training."""
        last = self.trials[-1]
        best = max((trial.value for trial in self.trials if trial.value is not None), default=None)
        log.info(
            "trial %d/%d: %s: %s",
            *(last.number, self._settings.max_trials, describe_settings(last.settings)),
            f"failed: {last.reason}"
            if last.value is None
            else f"eval {self._training.best_metric} {last.value:.4f}, best {best:.4f}",
        )
        self._known = list(self.trials)
        tf.io.gfile.makedirs(self.folder)
        with tf.io.gfile.GFile(f"{self._file}.partial", "w") as file:
            json.dump([trial.model_dump() for trial in self._known], file)
        tf.io.gfile.rename(f"{self._file}.partial", self._file, overwrite=True)
        training = os.path.join(self.folder, f"trial_{last.number}")
        if tf.io.gfile.exists(training):
            tf.io.gfile.rmtree(training)


def _hyperparameters(settings: TuningSettings) -> keras_tuner.HyperParameters:
    """KerasTuner's declaration of the spaces."""
    declared = keras_tuner.HyperParameters()
    for name, space in settings.spaces.items():
        if space.listed is not None:
            declared.Choice(name, list(space.listed))
        else:
            declared.Float(name, *space.bounds, sampling="log" if space.log else "linear")
    return declared


@contextmanager
def _before_progress(text: str) -> Iterator[None]:
    """Puts a text before each progress message of the training."""

    def add(record: logging.LogRecord) -> bool:
        record.msg = f"{text}, {record.msg}"
        return True

    progress_log.addFilter(add)
    try:
        yield
    finally:
        progress_log.removeFilter(add)
