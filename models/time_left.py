"""The remaining time of long work."""

import time

from schemas.wording import rounded_duration


class TimeLeft:
    """Estimates the remaining time from the pace so far.

    Args:
      done: amount of work before the clock started.
      total: amount of the whole work, in the same unit.
    """

    def __init__(self, done: float, total: float) -> None:
        self._started, self._first, self._total = time.monotonic(), done, total

    def after(self, done: float) -> str:
        """Returns the time left when an amount is done, as text: "40 s", "12 min"."""
        pace = (time.monotonic() - self._started) / (done - self._first)
        return rounded_duration(pace * (self._total - done))
