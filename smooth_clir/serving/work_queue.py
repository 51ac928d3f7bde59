"""Runs work in a few threads, with a waiting room of a limited size."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from smooth_clir.serving.refusals import Busy, HungUp, TooSlow

Found = TypeVar("Found")

_RETRY_SECONDS: Final = 1


class WorkQueue:
    """Threads for the work of requests, which must not block the event loop.

    Work cannot be ended once it has begun. Where its request ran out of time, or its client hung up, it goes on and
    keeps its thread until it is done. Work that has not begun by then never begins. anyio's limiter would give such a
    thread's place to the next request, and so have any number of threads.

    Args:
      threads: number of threads.
      waiting: number of requests that may wait for a thread.
      seconds: longest time for a request, waiting included.
    """

    def __init__(self, threads: int, waiting: int, seconds: float) -> None:
        self._threads, self._most, self._seconds = threads, threads + waiting, seconds
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="work")
        self._held = 0

    @property
    def at_work(self) -> int:
        """Number of requests that have a thread."""
        return min(self._held, self._threads)

    @property
    def waiting(self) -> int:
        """Number of requests that wait for a thread."""
        return max(self._held - self._threads, 0)

    async def run(self, work: Callable[[], Found], hung_up: Callable[[], Coroutine[Any, Any, Any]]) -> Found:
        """Runs work in a thread and returns its result.

        Args:
          work: the work.
          hung_up: makes a coroutine that ends when the client has gone.

        Raises:
          Busy: the waiting room is full, or no thread came free in time.
          TooSlow: the work did not end in time.
          HungUp: the client has gone.
        """
        if self._held >= self._most:
            raise Busy(
                f"the service must not have more than {self._most} requests at once; it has so many. "
                f"Ask again in {_RETRY_SECONDS} s.",
                _RETRY_SECONDS,
            )
        self._held += 1
        job = self._pool.submit(work)
        done: asyncio.Future[Found] = asyncio.wrap_future(job)
        done.add_done_callback(self._leave)
        gone = asyncio.create_task(hung_up())
        try:
            await asyncio.wait({done, gone}, timeout=self._seconds, return_when="FIRST_COMPLETED")
            if done.done():
                return done.result()
            has_begun = not job.cancel()
            if gone.done():
                gone.result()  # raises what is wrong with a body that no route reads
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
            gone.cancel()

    def close(self) -> bool:
        """Ends the idle threads; returns whether all threads were idle."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        return self._held == 0

    def _leave(self, done: "asyncio.Future[Any]") -> None:
        self._held -= 1
        if not done.cancelled():
            done.exception()  # asyncio warns of an error that nobody retrieves
