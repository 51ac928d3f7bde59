"""Silences the libraries' logs and warnings, which no user can act on."""

import logging
import os
import warnings

import absl.logging


def quieten(verbose: bool) -> None:
    """Silences the libraries in this process and in those that it starts; `verbose` shows their logs instead."""
    if verbose:
        logging.basicConfig(level=logging.INFO)
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("PYTHONWARNINGS", "ignore")  # of processes that this one starts
    warnings.simplefilter("ignore")
    # Libraries that are imported later, such as NumPy and Beam, show their own warnings all the same.
    warnings.showwarning = lambda *arguments, **keywords: None
    logging.getLogger().setLevel(logging.CRITICAL)
    for name in ("apache_beam", "tensorflow"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    absl.logging.set_verbosity(absl.logging.FATAL)  # absl sets its logger's level again when it is imported
