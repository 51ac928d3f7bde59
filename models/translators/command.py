"""A translator that is a program of this machine, such as Apertium."""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from typing import Final

from models.translators.settings import CommandSettings
from models.translators.translator import Translator
from schemas.errors import DataError
from schemas.wording import printable

ALLOWED: Final = "CLIR_ALLOWED_COMMANDS"
"""The environment variable that names the programs that a configuration may start, separated by commas; * for all."""

_SHOWN: Final = 300
"""Number of characters of a program's message that an error shows."""


class CommandTranslator(Translator):
    """Runs the programs of `channels.lexicon.translator.command` one after the other for each call.

    Args:
      settings, source, target: see `Translator`.

    Raises:
      DataError: a program is not allowed by the user, or does not exist.
    """

    def __init__(self, settings: CommandSettings, source: str, target: str) -> None:
        super().__init__(settings, source, target)
        self._commands = settings.command
        allowed = [name.strip() for name in os.environ.get(ALLOWED, "").split(",")]
        programs = list(dict.fromkeys(command[0] for command in self._commands))
        if "*" not in allowed and not {*programs} <= {*allowed}:
            raise DataError(
                f"the translator is a program, which would start with your permissions: {self.name}. If you trust it, "
                f"run again with --allow-commands, or set {ALLOWED}={','.join(programs)} in the environment of each "
                "process that translates."
            )
        for program in programs:
            if shutil.which(program) is None:
                raise DataError(
                    f"{self.name} needs the program {program}, which this machine lacks. Install it, or give its path; "
                    "docs/translation.md has the packages of Apertium."
                )

    @property
    def name(self) -> str:
        """The programs as a command line."""
        return f"`{printable(' | '.join(map(shlex.join, self._commands)), _SHOWN)}`"

    def _translate(self, texts: Sequence[str]) -> list[str]:
        content = "".join(f"{text}\n\n" for text in texts)
        for command in self._commands:
            content = self._output_of(command, content)
        translations = content.replace("\r\n", "\n").removesuffix("\n").removesuffix("\n").split("\n\n")
        if len(translations) != len(texts):
            raise DataError(
                f"{self.name} must write a translation of each text, with an empty line after it; it read "
                f"{len(texts):,} texts and wrote {len(translations):,}."
            )
        return translations

    def _output_of(self, command: Sequence[str], content: str) -> str:
        shown, seconds = f"`{printable(shlex.join(command), _SHOWN)}`", self._settings.timeout_s
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # allows to end its child processes, too
            )
        except OSError as error:
            raise DataError(f"{shown} cannot be started: {error.strerror}.") from None
        with process:
            try:
                output, message = process.communicate(content.encode(), seconds)
            except subprocess.TimeoutExpired:
                raise DataError(
                    f"{shown} did not end within {seconds:g} s. Check it, or raise "
                    "channels.lexicon.translator.timeout_s."
                ) from None
            finally:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode:
            said = printable((message or output)[: 4 * _SHOWN].decode("utf-8", "replace").strip(), _SHOWN)
            raise DataError(f"{shown} failed with the exit code {process.returncode}: {said or '(no message)'}")
        return output.decode("utf-8", "replace")
