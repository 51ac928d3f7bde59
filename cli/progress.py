"""What a person sees of a run: one line a stage on stderr, and a live line for what runs now."""

import logging
import time
from types import TracebackType

from rich.console import Console

from pipeline.stages import StageEnd
from schemas.printable import printable

_SECONDS_BETWEEN_LINES = 10.0
_LONGEST_LINE = 4000


class StageView(logging.Handler):
    """Shows stages as they start and end, and the messages of the project's own loggers.

    On a terminal the last line is alive; elsewhere the progress within a stage is printed every ten seconds.
    """

    def __init__(self) -> None:
        super().__init__()
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._status = self._console.status("")
        self._stage = ""
        self._last_line = 0.0
        self._before = logging.NOTSET, True

    def __enter__(self) -> "StageView":
        logger = logging.getLogger("clir")
        self._before = logger.level, logger.propagate
        logger.addHandler(self)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._status.stop()
        logger = logging.getLogger("clir")
        logger.removeHandler(self)
        level, logger.propagate = self._before
        logger.setLevel(level)
        if kind is not None:
            self.say(f"{self._stage}: failed")

    def start(self, number: int, total: int, name: str) -> None:
        """A stage starts."""
        self._stage = f"[{number:{len(str(total))}}/{total}] {name}" if total else name
        self._last_line = time.monotonic()
        self._status.update(self._stage)

    def end(self, stage: StageEnd) -> None:
        """A stage is done."""
        self.say(stage.describe())

    def say(self, line: str) -> None:
        """Prints a line."""
        self._console.print(printable(line, _LONGEST_LINE), markup=False)

    def emit(self, record: logging.LogRecord) -> None:
        """Shows a message of the project's loggers: `clir.progress` on the live line, others for good."""
        if record.name != "clir.progress":
            self.say(f"      {record.getMessage()}")
            return
        line = printable(f"{self._stage}: {record.getMessage()}", _LONGEST_LINE)
        self._status.update(line)
        if not self._console.is_terminal and time.monotonic() - self._last_line > _SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            self.say(line)
