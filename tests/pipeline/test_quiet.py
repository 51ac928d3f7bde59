"""pipeline/quiet.py: what the libraries say stays out of what a person sees."""

import os
import subprocess
import sys

import pytest

WARNINGS = {
    "a fit to two equal points, as Beam's batches make one": "numpy.polyfit([1, 1], [1, 1], 1)",
    "a division by zero": "numpy.array([1.0]) / 0",
    "a warning that its library wants to be seen": "warnings.simplefilter('always'); warnings.warn('x')",
    "a warning in a thread": "one = threading.Thread(target=warnings.warn, args=['x']); one.start(); one.join()",
    "a warning that is logged": "logging.getLogger('apache_beam.io').warning('x')",
}


def said(verbose: bool, act: str) -> str:
    """What a process says on stderr that acts after `quieten`."""
    script = f"""
import logging, threading, warnings
from pipeline.quiet import quieten
quieten(verbose={verbose})
import numpy  # its import asks for some of its warnings to be shown, as those of other libraries do
{act}
"""
    # What this process sets for those that it starts stays out, should another test have quietened it.
    own = {key: value for key, value in os.environ.items() if key not in ("PYTHONWARNINGS", "TF_CPP_MIN_LOG_LEVEL")}
    done = subprocess.run([sys.executable, "-c", script], env=own, capture_output=True, text=True, check=True)
    return done.stderr


@pytest.mark.parametrize("act", WARNINGS.values(), ids=WARNINGS)
def test_a_library_s_warning_is_not_seen(act: str) -> None:
    assert said(False, act) == ""


@pytest.mark.parametrize("act", WARNINGS.values(), ids=WARNINGS)
def test_it_is_seen_where_logs_are_asked_for(act: str) -> None:
    assert "warning" in said(True, act).lower()
