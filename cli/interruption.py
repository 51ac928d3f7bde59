"""Whether an exception is a person's Ctrl-C."""

import re

from cli.raised import raised_in


def is_interruption(error: BaseException) -> bool:
    """Whether a KeyboardInterrupt stands behind an exception, or in the words that a runner kept of it.

    Python raises it wherever the main thread is: within a step of Beam, whose runner makes a RuntimeError of it.
    """
    return any("KeyboardInterrupt" in raised.names or _names_it(raised.text) for raised in raised_in(error))


def _names_it(text: str) -> bool:
    return re.search(r"^(?:\w+: )*KeyboardInterrupt\b", text, re.MULTILINE) is not None
