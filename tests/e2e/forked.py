"""`clir` in a process forked from one that has imported everything: quick to start, and can be killed on the way."""

import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_MODULES = [
    "smooth_clir.cli.main",
    "pipeline.local_runner",
    "smooth_clir.retrieval.document_ranker",
    "models.tf_ranking",
    "smooth_clir.retrieval.update_index",
    "smooth_clir.retrieval.index_versions",
    "tests.e2e.forked",
]

CONTEXT = multiprocessing.get_context("forkserver")
"""Starts processes that have imported `_MODULES` and run no op. A process has one such server, and one list of modules:
whoever else set a list would take this one's place."""
CONTEXT.set_forkserver_preload(_MODULES)


class Kill(NamedTuple):
    """When a run kills itself with SIGKILL: when a stage's work is done and not yet in the metadata, or sooner."""

    stage: str
    seconds: float | None = None
    """So long after the stage's start."""
    epoch: int | None = None
    """Once the Trainer has saved this epoch."""


def clir(*arguments: object, log: Path, out: Path | None = None, kill: Kill | None = None, code: Path = ROOT) -> int:
    """Runs a command to its end.

    Args:
      arguments: the command's.
      log: where stdout and stderr are appended.
      out: where stdout goes instead.
      kill: when the process kills itself.
      code: the root of the code that the cache keys see; what runs is always this project's.

    Returns:
      its exit code; -9 where it was killed.
    """
    process = start(*arguments, log=log, out=out, kill=kill, code=code)
    process.join()
    exit_code = process.exitcode
    process.close()
    assert exit_code is not None
    return exit_code


def start(
    *arguments: object, log: Path, out: Path | None = None, kill: Kill | None = None, code: Path = ROOT
) -> BaseProcess:
    """Starts a command; see `clir`."""
    texts = [str(argument) for argument in arguments]
    process = CONTEXT.Process(target=_main, args=(texts, log, out or log, kill, code))
    process.start()
    return process


def _main(arguments: list[str], log: Path, out: Path, kill: Kill | None, code: Path) -> None:
    for path, descriptor in ((out, 1), (log, 2)):
        with open(path, "ab") as file:
            os.dup2(file.fileno(), descriptor)
    os.chdir(ROOT)
    # A shell that runs the tests in the background has its children ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if kill is not None:
        _arm(kill)
    from pipeline import identity
    from pipeline import pipeline as graph
    from smooth_clir.cli.main import main

    identity._ROOT = code
    graph._SCHEMA_FILE = str(code / "schemas" / "schema.pbtxt")
    sys.argv = ["clir", *arguments]
    main()


def _arm(kill: Kill) -> None:
    """Puts the kill where the work is done."""
    from tfx.orchestration.portable.launcher import Launcher

    from models.training import checkpoint as training_checkpoint

    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if kill.epoch is not None:
        training_checkpoint._LARGEST_SHARE = 1e9  # every epoch is saved
        save = training_checkpoint.TrainingCheckpoint.save

        def save_and_die(checkpoint: training_checkpoint.TrainingCheckpoint) -> None:
            save(checkpoint)
            if checkpoint.progress.epoch == kill.epoch:
                die()

        training_checkpoint.TrainingCheckpoint.save = save_and_die  # type: ignore[method-assign]
        return
    name = "_publish_successful_execution" if kill.seconds is None else "_run_executor"
    original = getattr(Launcher, name)

    def armed(launcher: Launcher, *arguments: object, **keywords: object) -> object:
        if launcher._pipeline_node.node_info.id == kill.stage:
            if kill.seconds is None:
                die()
            threading.Timer(kill.seconds, die).start()
        return original(launcher, *arguments, **keywords)

    setattr(Launcher, name, armed)
