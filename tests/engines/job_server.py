"""Beam's own portable job server, with a number of workers: its own entry point has a single one.

python -m tests.engines.job_server PORT WORKERS
"""

import signal
import sys
import threading

from apache_beam.runners.portability import local_job_service
from apache_beam.runners.portability.fn_api_runner import fn_runner


def job_of(workers: int) -> type[local_job_service.BeamJob]:
    """A job that is run by this number of workers."""

    class Job(local_job_service.BeamJob):
        def _invoke_runner(self):
            self.set_state(local_job_service.beam_job_api_pb2.JobState.RUNNING)
            runner = fn_runner.FnApiRunner(provision_info=self._provision_info)
            runner._num_workers = workers  # `run_via_runner_api` reads no option for it
            return runner.run_via_runner_api(self._pipeline_proto, self.pipeline_options())

    return Job


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    local_job_service.LocalJobServicer(beam_job_type=job_of(int(sys.argv[2]))).start_grpc_server(int(sys.argv[1]))
    threading.Event().wait()
