"""Settings of a machine translator. Importing this file does not import TensorFlow."""

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field, field_validator, model_validator

from models.endpoint_settings import Address, KeyVariable, Retries, Timeout
from schemas.settings import Settings, faults_of_kind

_KIND_SETTINGS: Final = {"command": ("command",), "endpoint": ("address", "key_variable", "retries", "batch")}
"""The settings that one kind alone has."""
_REQUIRED_SETTINGS: Final = {"command": ("command",), "endpoint": ("address",)}
"""Those of them that it must have."""


def _as_commands(value: Any) -> Any:
    """One command as a row of one; a text is no command, because no shell divides it."""
    if isinstance(value, list | tuple) and value and not isinstance(value[0], list | tuple):
        return [value]
    return value


_Command: TypeAlias = tuple[Annotated[str, Field(min_length=1)], ...]
Commands: TypeAlias = Annotated[
    tuple[_Command, ...], BeforeValidator(_as_commands, json_schema_input_type=_Command | tuple[_Command, ...])
]
"""Programs with their arguments, each of which reads what the one before it wrote."""


class TranslatorSettings(Settings):
    """A machine translator, which training needs and serving does not; see docs/translation.md."""

    kind: Literal["none", "command", "endpoint"] = "none"
    """Kind of the translator: none, command (a program of this machine), or endpoint (a service that answers
    LibreTranslate's POST /translate). Translations in a file are `lexicon.pairs`."""
    command: Commands | None = None
    """The program that translates from the texts' language into the other one: a list of its arguments, such as
    [apertium, -u, spa-eng], or a list of such lists, each of which reads what the one before it wrote. It reads UTF-8,
    texts of one line with an empty line after each, and writes their translations in the same form. No shell is
    started. A run asks for `--allow-commands`, or for the environment variable CLIR_ALLOWED_COMMANDS, which names
    programs, separated by commas."""
    address: Address | None = None
    """Address of the endpoint, without the path: http://localhost:5000 for http://localhost:5000/translate."""
    key_variable: KeyVariable | None = None
    """Name of the environment variable that holds the endpoint's key; see `encoder.key_variable`."""
    timeout_s: Timeout = 300.0
    """Longest wait for a whole answer of the endpoint, or for the end of a program that got 512 texts, in seconds."""
    retries: Retries = 5
    """Number of further tries; see `encoder.retries`."""
    batch: Annotated[int, Field(ge=1, le=4096)] = 32
    """Number of texts of a request."""
    probe: str | None = None
    """Expected translation of a fixed sentence; every run fills it in in its resolved configuration, and a rerun checks
    it."""

    @field_validator("command")
    @classmethod
    def _check_command(cls, commands: Commands | None) -> Commands | None:
        if commands is not None and not (commands and all(commands)):
            raise ValueError("must name a program, or be null; got an empty list")
        return commands

    @model_validator(mode="after")
    def _check_kind(self) -> "TranslatorSettings":
        if faults := faults_of_kind(self, _KIND_SETTINGS, _REQUIRED_SETTINGS):
            raise ValueError("; ".join(faults))
        return self
