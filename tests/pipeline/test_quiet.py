"""pipeline/quiet.py: what the libraries say stays out of what a person sees."""

import os
import subprocess
import sys

WARNINGS = {
    "a fit to two equal points, as Beam's batches make one": "numpy.polyfit([1, 1], [1, 1], 1)",
    "a division by zero": "numpy.array([1.0]) / 0",
    "a warning in a thread": "one = threading.Thread(target=warnings.warn, args=['x']); one.start(); one.join()",
    "a warning that is logged": "logging.getLogger('apache_beam.io').warning('x')",
    "a warning that its library wants to be seen": "warnings.simplefilter('always'); warnings.warn('x')",
}
MARK = "act: "


def said(verbose: bool) -> dict[str, str]:
    """The stderr of each act, in one process that has called `quieten`."""
    acts = "\n".join(f"print({MARK + name!r}, file=sys.stderr)\n{act}" for name, act in WARNINGS.items())
    script = f"""
import logging, sys, threading, warnings
from pipeline.quiet import quieten
quieten(verbose={verbose})
import numpy  # its import asks for some of its warnings to be shown, as those of other libraries do
{acts}
"""
    # What this process sets for those that it starts stays out, should another test have quietened it.
    own = {key: value for key, value in os.environ.items() if key not in ("PYTHONWARNINGS", "TF_CPP_MIN_LOG_LEVEL")}
    done = subprocess.run([sys.executable, "-c", script], env=own, capture_output=True, text=True, check=True)
    before, *parts = done.stderr.split(MARK)
    assert before == ""
    return dict(part.split("\n", 1) for part in parts)


def test_a_library_s_warning_is_not_seen() -> None:
    assert said(False) == dict.fromkeys(WARNINGS, "")


def test_it_is_seen_where_logs_are_asked_for() -> None:
    act_stderr = said(True)
    assert [name for name in WARNINGS if "warning" not in act_stderr[name].lower()] == []
