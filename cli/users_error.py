"""Tells a user's error from ours."""

import errno
import os

from schemas.errors import ConfigError, DataError

_NO_SPACE = (*map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)), "database or disk is full")
"""How the system and SQLite tell of a full disk, a quota or a limit: Beam and TensorFlow pass on the words alone."""


def users_error(error: BaseException | None) -> ConfigError | DataError | None:
    """The user's error behind an exception, if any: runners wrap what a stage raises."""
    while error is not None and not isinstance(error, ConfigError | DataError):
        for words in _NO_SPACE:
            if words in str(error):
                return DataError(
                    f"no space left to write what comes out ({words}); free some, or choose another output, and run it "
                    "again: stages that are done stay in the cache."
                )
        error = error.__cause__ or error.__context__
    return error
