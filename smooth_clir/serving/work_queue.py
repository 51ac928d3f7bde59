"""Runs work in a few threads, with a limited number of waiting requests."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from smooth_clir.serving.refusals import Busy, HungUp, TooSlow

Result = TypeVar("Result")

_RETRY_SECONDS: Final = 1


class WorkQueue:
    """Threads for the work of requests, which must not block the event loop.

    Running work cannot be stopped: if its request times out, or its client hangs up, it keeps its thread until it is
    done. Waiting work is then cancelled. anyio's limiter would give each next request another thread, without a limit.

    Args:
      threads: number of threads.
      waiting: number of requests that may wait for a thread.
      seconds: timeout of a request, waiting included.
    """

    def __init__(self, threads: int, waiting: int, seconds: float) -> None:
        self._threads, self._max_requests, self._seconds = threads, threads + waiting, seconds
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="work")
        self._requests = 0

    @property
    def at_work(self) -> int:
        """Number of requests that have a thread."""
        return min(self._requests, self._threads)

    @property
    def waiting(self) -> int:
        """Number of requests that wait for a thread."""
        return max(self._requests - self._threads, 0)

    async def run(self, work: Callable[[], Result], hung_up: Callable[[], Coroutine[Any, Any, Any]]) -> Result:
        """Runs work in a thread and returns its result.

        Args:
          work: the work.
          hung_up: makes a coroutine that ends when the client has gone.

        Raises:
          Busy: too many requests wait, or no thread became free in time.
          TooSlow: the work did not end in time.
          HungUp: the client has gone.
        """
        if self._requests >= self._max_requests:
            raise Busy(
                f"The service is busy: {self._requests} requests are running or waiting. "
                f"Ask again in {_RETRY_SECONDS} s.",
                _RETRY_SECONDS,
            )
        self._requests += 1
        job = self._pool.submit(work)
        result: asyncio.Future[Result] = asyncio.wrap_future(job)
        result.add_done_callback(self._leave)
        hang_up = asyncio.create_task(hung_up())
        try:
            await asyncio.wait({result, hang_up}, timeout=self._seconds, return_when="FIRST_COMPLETED")
            if result.done():
                return result.result()
            has_begun = not job.cancel()
            if hang_up.done():
                hang_up.result()  # raises the refusal of a body that no route reads
                raise HungUp("The client has hung up.")
            if has_begun:
                raise TooSlow(f"The answer was not ready within {self._seconds:g} s. Ask for less at once.")
            raise Busy(
                f"The service is busy: no thread became free within {self._seconds:g} s. "
                f"Ask again in {_RETRY_SECONDS} s.",
                _RETRY_SECONDS,
            )
        finally:
            hang_up.cancel()

    def close(self) -> bool:
        """Ends the idle threads; returns whether all threads were idle."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        return self._requests == 0

    def _leave(self, result: "asyncio.Future[Any]") -> None:
        self._requests -= 1
        if not result.cancelled():
            result.exception()  # asyncio warns of an error that nobody retrieves
