"""The libraries' logs and warnings, which hold nothing that a user can act on."""

import logging
import os
import warnings

import absl.logging


def quieten(verbose: bool) -> None:
    """Silences the libraries, in this process and in those that it starts, unless they are asked for."""
    if verbose:
        logging.basicConfig(level=logging.INFO)
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("PYTHONWARNINGS", "ignore")  # of processes that this one starts
    warnings.simplefilter("ignore")
    # Libraries that are imported later, NumPy and Beam among them, ask for warnings of theirs to be shown all the same.
    warnings.showwarning = lambda *arguments, **keywords: None
    logging.getLogger().setLevel(logging.CRITICAL)
    for name in ("apache_beam", "tensorflow"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    absl.logging.set_verbosity(absl.logging.FATAL)  # absl sets its logger's level anew when it is imported
