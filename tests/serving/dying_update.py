"""A process that brings an index to its next version, and is killed on the way."""

import os
import signal
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, Final, NamedTuple

import tensorflow as tf

from components.index_pusher.index_versions import IndexVersions, push_index
from models.exported.model import Arrays, ExportedModel, LoadedModel, as_texts
from schemas.wikiclir import Text
from serving import update_index
from tests.e2e.forked import CONTEXT

_STEPS: Final = ("open", "os.mkdir", "os.link", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree")
"""Audit events of Python that count as steps; `open` counts for paths in the index's folder alone."""
MOST: Final = 4
"""Documents of a segment."""
LEAST: Final = 12
"""Vectors that need lists."""


class Recorded(ExportedModel):
    """An exported model's outputs for some texts, recorded so that no process has to load the model.

    Args:
      model: a loaded model that encodes documents.
      texts: all texts that will be encoded.
    """

    def __init__(self, model: LoadedModel, texts: Sequence[str]) -> None:
        self.signatures, self.version = model.signatures, model.version
        self._row = {text.encode(): row for row, text in enumerate(texts)}
        columns, constants = ("encode_document", "count_terms"), ("collection_statistics", "words_channel")
        self._columns = {name: model.call(name, {"document": as_texts(texts)}) for name in columns}
        self._constants = {name: model.call(name, {}) for name in constants}

    def _call(self, signature: str, inputs: Arrays) -> dict[str, Any]:
        """Returns the outputs of a signature without inputs."""
        return self._constants[signature]

    def tensors(self, signature: str, document: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the outputs of a signature for documents."""
        rows = [self._row[text] for text in document.numpy().tolist()]
        return {name: tf.constant(column[rows]) for name, column in self._columns[signature].items()}


class Work(NamedTuple):
    """A piece of work on an index."""

    kind: str
    """push; or replace, or change."""
    model: str
    """Folder of the model; of a push, that of the index."""
    documents: tuple[tuple[str, str], ...] = ()
    """Id and text."""
    removed: tuple[str, ...] = ()

    def texts(self) -> list[Text]:
        """The documents."""
        return [Text(name, f"title {name}", text, 1) for name, text in self.documents]


class DyingUpdate:
    """Such a process, which has begun its work when this is made.

    Args:
      work: to be done.
      folder: of the index.
      model: what encodes; None for the exported model itself.
      last_step: number of the step, from 0, before which it kills itself; None for none.
    """

    def __init__(self, work: Work, folder: str, model: Recorded | None, last_step: int | None = None) -> None:
        self._parent, child = CONTEXT.Pipe()
        self._process: Any = CONTEXT.Process(target=_work, args=(work, folder, model, last_step, child))
        self._process.start()
        child.close()
        self._parent.recv()

    def steps(self, seconds: float | None = None) -> list[str] | None:
        """The steps it did; None where it was killed.

        Args:
          seconds: after which it is killed; None for never.
        """
        if not self._parent.poll(seconds):
            self._process.kill()
        try:
            steps: list[str] | None = self._parent.recv()
        except EOFError:
            steps = None
        self._process.join()
        assert self._process.exitcode == (-signal.SIGKILL if steps is None else 0)
        return steps


def _work(work: Work, folder: str, model: Recorded | None, last_step: int | None, parent: Connection) -> None:
    updater = None
    if model:
        update_index.LoadedModel = lambda *_: model
    if work.kind != "push":
        updater = update_index.IndexUpdater(work.model, IndexVersions(folder), least=LEAST, most=MOST)
    steps: list[str] = []

    def step(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _STEPS and (event != "open" or str(arguments[0]).startswith(folder)):
            if len(steps) == last_step:
                os.kill(os.getpid(), signal.SIGKILL)
            steps.append(event)

    sys.addaudithook(step)
    parent.send("begun")
    if updater is None:
        push_index(work.model, folder)
    elif work.kind == "replace":
        updater.replace_all(work.texts())
    else:
        updater.change(work.texts(), work.removed)
    parent.send(steps)
