"""Runs work in a few threads, with a waiting room of a limited size."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar

from serving.refusals import Busy, HungUp, TooSlow

Found = TypeVar("Found")

_RETRY_SECONDS: Final = 1


class WorkQueue:
    """Threads for the work of requests, which must not stand in the way of the event loop.

    Work cannot be ended once it has begun: that of a request which ran out of time, or whose client hung up, goes on,
    and keeps its thread until it is done. What has not begun by then never will.

    Args:
      threads: at work at once.
      waiting: that may wait for a thread.
      seconds: that a request may take, waiting included.
    """

    def __init__(self, threads: int, waiting: int, seconds: float) -> None:
        self._threads, self._most, self._seconds = threads, threads + waiting, seconds
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="work")
        self._lock = threading.Lock()
        self._held = 0

    @property
    def at_work(self) -> int:
        """Requests that have a thread."""
        return min(self._held, self._threads)

    @property
    def waiting(self) -> int:
        """Requests that wait for one."""
        return max(self._held - self._threads, 0)

    async def run(
        self, work: Callable[[], Found], hung_up: Callable[[], Coroutine[Any, Any, Any]] | None = None
    ) -> Found:
        """What the work gives.

        Args:
          work: is called in a thread.
          hung_up: what it gives ends when the client has gone.

        Raises:
          Busy: the waiting room is full, or no thread came free in time.
          TooSlow: the work did not end in time.
          HungUp: the client has gone.
        """
        with self._lock:
            if self._held >= self._most:
                raise Busy(
                    f"the service must not have more than {self._most} requests at once; it has so many. "
                    f"Ask again in {_RETRY_SECONDS} s.",
                    _RETRY_SECONDS,
                )
            self._held += 1
        job = self._pool.submit(work)
        job.add_done_callback(self._leave)
        done: asyncio.Future[Found] = asyncio.wrap_future(job)
        gone = asyncio.create_task(hung_up()) if hung_up is not None else None
        try:
            await asyncio.wait({done, gone} if gone else {done}, timeout=self._seconds, return_when="FIRST_COMPLETED")
            if done.done():
                return done.result()
            has_begun = not job.cancel()
            if gone and gone.done():
                raise HungUp("the client has hung up.")
            if has_begun:
                raise TooSlow(
                    f"an answer must take no more than {self._seconds:g} s; this one took longer. Ask for less at once."
                )
            raise Busy(
                f"a request must wait no longer than {self._seconds:g} s; this one did, for others are at work. "
                f"Ask again in {_RETRY_SECONDS} s.",
                _RETRY_SECONDS,
            )
        finally:
            done.add_done_callback(_look_at)
            if gone:
                gone.cancel()

    def close(self) -> bool:
        """Ends the threads that have nothing to do; whether these are all."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        return self._held == 0

    def _leave(self, job: "Future[Any]") -> None:
        with self._lock:
            self._held -= 1


def _look_at(done: "asyncio.Future[Any]") -> None:
    """Takes note of an error that nobody waits for any more, lest asyncio complain of it."""
    if not done.cancelled():
        done.exception()
