"""Beam's external pool of workers, whose workers are forked from a process that has imported the libraries.

Beam's own pool starts each worker with a new Python. A job has two workers and a run has many jobs: nearly all of the
tests' time would go to imports. The project's own modules are imported by each worker, as they are on an engine.

python -m tests.engines.pool --service_port=PORT
"""

import multiprocessing
from multiprocessing.process import BaseProcess
from typing import Any

from apache_beam.portability.api import beam_fn_api_pb2
from apache_beam.runners.worker import worker_pool_main

CONTEXT = multiprocessing.get_context("forkserver")
LIBRARIES = [
    "apache_beam.runners.worker.sdk_worker",
    "tfx.components.statistics_gen.executor",
    "tfx.components.transform.executor",
]


class ForkingPool(worker_pool_main.BeamFnExternalWorkerPoolServicer):
    """Beam's pool, but for the start and the end of a worker."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._workers: dict[str, BaseProcess] = {}

    def StartWorker(self, request: Any, context: object) -> Any:
        """Starts a worker of a job."""
        worker = CONTEXT.Process(target=work, args=(request.control_endpoint.url, request.worker_id), daemon=True)
        worker.start()
        self._workers[request.worker_id] = worker
        print("started a worker", flush=True)
        return beam_fn_api_pb2.StartWorkerResponse()

    def StopWorker(self, request: Any, context: object) -> Any:
        """Ends a worker."""
        if worker := self._workers.pop(request.worker_id, None):
            worker.terminate()
            worker.join()
        return beam_fn_api_pb2.StopWorkerResponse()


def work(control: str, worker_id: str) -> None:
    """The life of a worker, as in Beam's own pool."""
    from apache_beam.runners.worker.sdk_worker import SdkHarness

    SdkHarness(control, worker_id=worker_id, state_cache_size=0, data_buffer_time_limit_ms=-1).run()


if __name__ == "__main__":
    CONTEXT.set_forkserver_preload(LIBRARIES)
    worker_pool_main.BeamFnExternalWorkerPoolServicer = ForkingPool
    worker_pool_main.main()
