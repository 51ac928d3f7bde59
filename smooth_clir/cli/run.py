"""`clir run`: runs the whole pipeline."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from components.training_report.stability_report import unreachable
from models.encoders.settings import USE_LANGUAGES, UseMultilingualSettings, VectorsSettings
from pipeline.beam_settings import check_local_beam
from pipeline.config import RunConfig
from pipeline.config_file import load_config
from pipeline.input_files import resolve_digests
from pipeline.layout import TENSORBOARD
from pipeline.machine import check_machine
from pipeline.output_folder import run_lock
from pipeline.output_path import local_output
from pipeline.stages import StageEnd, peak_memory
from schemas.errors import DataError
from schemas.languages import codes_of
from smooth_clir.cli.arguments import allow_commands_option, json_option, overrides_option
from smooth_clir.cli.imports import check_extra, heavy_imports
from smooth_clir.cli.summary import RunSummary, describe_files, metrics_table, search_table
from smooth_clir.cli.terminal import StageView, for_shell, program, say, short, show, show_json

if TYPE_CHECKING:
    from pipeline.estimate import RunEstimate


@click.command()
@click.argument("config", type=click.Path())
@overrides_option
@click.option("--estimate", is_flag=True, help="Only count the input, and estimate steps, memory and disk.")
@allow_commands_option
@json_option
@click.option("-v", "--verbose", is_flag=True, help="Show the logs of TFX, Beam and TensorFlow.")
def run(config: str, overrides: tuple[str, ...], estimate: bool, as_json: bool, verbose: bool) -> None:
    """Run the whole pipeline that CONFIG describes.

    Trains, evaluates and pushes a model; takes stages whose inputs, settings and code have not changed from the cache.

    Example: clir run configs/sample.yaml --set training.epochs=3
    """
    loaded = load_config(config, overrides)
    if estimate:
        estimated = estimate_of(loaded, verbose)
        if as_json:
            show_json(estimated.model_dump())
        else:
            show("\n".join(estimated.describe()))
        return
    settings = checked_run(loaded)
    with run_lock(Path(settings.output)):
        _run(settings, as_json, verbose)


def checked_run(settings: RunConfig) -> RunConfig:
    """Returns the settings of a local run with the digests of its inputs; refuses what no run on this machine could do.

    Raises:
      ConfigError: the output, the Beam runner or an input is wrong.
      DataError: the machine lacks what a run needs.
    """
    check_extra("pipeline")
    local_output(settings.output)
    check_local_beam(settings.beam)
    check_machine()
    return resolve_digests(settings)


def unknown_languages(settings: RunConfig) -> list[str]:
    """Returns a warning for each language that the encoder was not trained on, if this is known."""
    languages = dict.fromkeys(code for language in settings.data.languages for code in codes_of(language))
    encoder = settings.channels.encoder
    if not isinstance(encoder, UseMultilingualSettings):
        return []
    return [
        f"{encoder.shown_name} was not trained on the language {language}: its vectors may mislead; it knows "
        f"{', '.join(USE_LANGUAGES)}"
        for language in languages
        if language not in USE_LANGUAGES
    ]


def estimate_of(settings: RunConfig, verbose: bool = False) -> "RunEstimate":
    """Estimates a run, and shows that it counts. Raises as `estimate_run` does."""
    with StageView() as view:
        view.start(0, 0, "counting")
        with heavy_imports(verbose):
            import pipeline.local_runner  # noqa: F401 - the memory of a run's libraries counts
            from pipeline.estimate import estimate_run

        return estimate_run(settings)


def _run(settings: RunConfig, as_json: bool, verbose: bool) -> None:
    """Runs the pipeline and prints its results."""
    started = time.monotonic()
    stages: list[StageEnd] = []
    with StageView() as view:
        for sentence in (
            *unreachable(settings.channels.towers, settings.loss, settings.data.top_grade),
            *unknown_languages(settings),
        ):
            view.say(f"warning: {sentence}")
        if encoder := settings.channels.encoder:
            view.say(
                f"the pre-trained encoder {encoder.shown_name} is part of the score; "
                "`--set channels.encoder=null` leaves it out"
            )
        view.start(0, 0, "loading TFX")

        def end(stage: StageEnd) -> None:
            stages.append(stage)
            view.end(stage)

        try:
            with heavy_imports(verbose):
                from pipeline.local_runner import run_locally

            result = run_locally(settings, view.start, end)
        finally:
            summary = RunSummary(stages, time.monotonic() - started, peak_memory())
            view.say(summary.describe())
        view.say(f"{settings.data.query_language} queries, {settings.data.document_language} documents")
        for report in (result.data_report, result.lexicon_report):
            for line in report.describe() if report else ():
                view.say(line)
        if result.cached:
            view.say(
                "every stage came from the cache, except the gate and the push, which always run: an earlier run had "
                "the same inputs, settings and code"
            )
    if as_json:
        parts = {
            "verdict": result.verdict.model_dump(),
            "data": result.data_report and result.data_report.as_dict(),
            "pushed": result.pushed,
            "newest": result.newest,
            "summary": summary.as_dict(),
        }
        if result.lexicon_report:
            parts["lexicon"] = result.lexicon_report.model_dump()
        if result.tuning:
            parts["tuning"] = result.tuning.model_dump()
        if result.search:
            parts["search"] = result.search.model_dump()
        show_json({**result.report.model_dump(), **parts})
    else:
        show(metrics_table(result.report))
        if result.search:
            show(f"\n{search_table(result.search)}")
    if result.training and result.training.changed_nothing:
        say(
            "warning: the training changed nothing, because the loss and its gradient were 0 in every step; this loss "
            "can learn nothing from these train lists"
        )
    for warning in result.report.warnings:
        say(f"warning: {warning}")
    say("\n".join([f"written to {short(settings.output)}:", *describe_files(Path(settings.output))]))
    if result.tuning:
        say(result.tuning.describe_best())
    if result.pushed is None:
        newest = f"the newest version is still {short(result.newest)}" if result.newest else "no version is pushed"
        raise DataError(f"the model was not pushed: {result.verdict.reason}. Now {newest}.")
    outcome = "was already pushed" if result.was_pushed else "pushed"
    say(f"{outcome} as the newest version, {short(result.pushed)}: {result.verdict.reason}")
    _say_next(settings)


def _say_next(settings: RunConfig) -> None:
    output, documents = for_shell(settings.output), for_shell(settings.text_paths()["documents"])
    # A model whose vectors come from files has no vector for a new query.
    takes_queries = not isinstance(settings.channels.encoder, VectorsSettings)
    search = f'\n  {program()} search {output} "..."' if settings.search.index and takes_queries else ""
    rank = f'\n  {program()} rank {output} --query "..." --documents {documents}' if takes_queries else ""
    say(
        f"""
next:{search}{rank}
  {program("tensorboard")} --logdir {for_shell(os.path.join(settings.output, TENSORBOARD))}"""
    )
