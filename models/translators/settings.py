"""Settings of a machine translator. Importing this file does not import TensorFlow."""

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BeforeValidator, Field, field_validator

from models.endpoint_settings import Address, KeyVariable, Retries, Timeout
from models.kinds import Implemented


def _as_commands(value: Any) -> Any:
    """Wraps a single command in a list; texts are not commands, because no shell splits them."""
    if isinstance(value, list | tuple) and value and not isinstance(value[0], list | tuple):
        return [value]
    return value


_Command: TypeAlias = tuple[Annotated[str, Field(min_length=1)], ...]
Commands: TypeAlias = Annotated[
    tuple[_Command, ...], BeforeValidator(_as_commands, json_schema_input_type=_Command | tuple[_Command, ...])
]
"""Programs with their arguments; each reads the output of the previous one."""


class TranslatorSettings(Implemented):
    """A machine translator, which training needs and serving does not; see docs/translation.md.

    Its class is a `models.translators.translator.Translator`.
    """

    kinds: ClassVar[dict[str, type[Any]]] = {}

    kind: str
    """Kind of the translator: command (a program of this machine), or endpoint (a service that answers LibreTranslate's
    POST /translate). Translations in a file are `channels.lexicon.pairs`."""
    timeout_s: Timeout = 300.0
    """Longest wait for a whole answer of the endpoint, or for the end of a program with 512 texts, in seconds."""
    probe: str | None = None
    """Expected translation of a fixed sentence; every run writes it into its resolved configuration, and a rerun checks
    it."""


@TranslatorSettings.add
class CommandSettings(TranslatorSettings):
    """A program of this machine."""

    implementation: ClassVar[str] = "models.translators.command.CommandTranslator"

    kind: Literal["command"] = "command"
    command: Commands
    """The program that translates from the texts' language into the other: a list of the name and arguments, such as
    [apertium, -u, spa-eng], or a list of such lists, each of which reads the output of the previous one. It reads
    UTF-8, texts of one line with an empty line after each, and writes their translations in the same form. It runs
    without a shell. Needs `--allow-commands`, or the environment variable CLIR_ALLOWED_COMMANDS with the names of
    allowed programs, separated by commas."""

    @field_validator("command")
    @classmethod
    def _check_command(cls, commands: Commands) -> Commands:
        if not (commands and all(commands)):
            raise ValueError("must name a program; got an empty list")
        return commands


@TranslatorSettings.add
class TranslatorEndpointSettings(TranslatorSettings):
    """A service that answers LibreTranslate's POST /translate."""

    implementation: ClassVar[str] = "models.translators.endpoint.EndpointTranslator"

    kind: Literal["endpoint"] = "endpoint"
    address: Address
    """Address of the endpoint, without the path: http://localhost:5000 for http://localhost:5000/translate."""
    key_variable: KeyVariable | None = None
    """Name of the environment variable that holds the endpoint's key; see `channels.encoder.key_variable`."""
    retries: Retries = 5
    """Number of further tries; see `channels.encoder.retries`."""
    batch: Annotated[int, Field(ge=1, le=4096)] = 32
    """Number of texts of a request."""
