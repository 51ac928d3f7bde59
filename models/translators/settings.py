"""Settings of a machine translator. Importing this file does not import TensorFlow."""

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field, field_validator, model_validator

from models.endpoint_settings import Address, KeyVariable, Retries, Timeout
from schemas.settings import Settings, faults_of_kind

_OWN: Final = {"command": ("command", "query_command"), "endpoint": ("address", "key_variable", "retries", "batch")}
"""The settings that one kind alone has."""

Side: TypeAlias = Literal["document", "query"]
"""The texts that are translated: documents into the query language, or queries into the document language."""


def _as_commands(value: Any) -> Any:
    """One command as a row of one; a text is no command, because no shell divides it."""
    if isinstance(value, list | tuple) and value and not isinstance(value[0], list | tuple):
        return [value]
    return value


Commands: TypeAlias = Annotated[
    tuple[tuple[Annotated[str, Field(min_length=1)], ...], ...], BeforeValidator(_as_commands)
]
"""Programs with their arguments, each of which reads what the one before it wrote."""


class TranslatorSettings(Settings):
    """A machine translator that teaches the lexicon: training needs it, serving does not; see docs/translation.md."""

    kind: Literal["none", "command", "endpoint"] = "none"
    """Kind of the translator: none, command (a program of this machine), or endpoint (a service that answers
    LibreTranslate's POST /translate). Translations in a file are `lexicon.pairs`."""
    of: Literal["documents", "queries", "both"] = "documents"
    """The texts that are translated: the sentences of all documents, into the query language; the train queries, into
    the document language; or both."""
    weight: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    """How often each pair of a text and its translation counts beside a train pair."""
    command: Commands | None = None
    """The program that translates documents: a list of its arguments, such as [apertium, -u, spa-eng], or a list of
    such lists, each of which reads what the one before it wrote. It reads UTF-8, texts of one line with an empty line
    after each, and writes their translations in the same form. No shell is started. A run asks for `--allow-commands`
    or the environment variable CLIR_ALLOWED_COMMANDS, which names programs, separated by commas."""
    query_command: Commands | None = None
    """The program that translates queries, likewise."""
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
    probes: dict[Side, str] = {}
    """Expected translations of a fixed sentence, of each side that is translated; every run fills them in in its
    resolved configuration, and a rerun checks them."""

    @field_validator("command", "query_command")
    @classmethod
    def _commands_have_programs(cls, commands: Commands | None) -> Commands | None:
        if commands is not None and not (commands and all(commands)):
            raise ValueError("must name a program, or be null; got an empty list")
        return commands

    @model_validator(mode="after")
    def _settings_are_of_the_kind(self) -> "TranslatorSettings":
        needed = {"command": [f"{'query_' * (side == 'query')}command" for side in self.sides], "endpoint": ["address"]}
        if faults := faults_of_kind(self, _OWN, needed):
            raise ValueError("; ".join(faults))
        return self

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that are translated."""
        both: tuple[Side, ...] = ("document", "query")
        return {"documents": both[:1], "queries": both[1:], "both": both}[self.of]

    def commands(self, side: Side) -> tuple[tuple[str, ...], ...]:
        """The programs that translate a side."""
        return (self.query_command if side == "query" else self.command) or ()

    @property
    def for_texts(self) -> "TranslatorSettings":
        """The settings by which texts are translated; the weight is the default."""
        return self.model_copy(update={"weight": 1.0})
