"""The catalogue of bad inputs: what is wrong, how it is made, what becomes of it, and what must be said."""

from typing import Final

from tests.bad_input.case import Case
from tests.bad_input.configurations import COMMAND_LINES, CONFIGURATIONS
from tests.bad_input.domains import DOMAINS
from tests.bad_input.encoders import ENCODERS
from tests.bad_input.files import COLLECTIONS, INPUT_FILES
from tests.bad_input.lexicon_pairs import LEXICON_PAIRS
from tests.bad_input.records import RECORDS
from tests.bad_input.word_vectors import WORD_VECTORS

SECTIONS: Final = {
    "The configuration": CONFIGURATIONS,
    "The command line": COMMAND_LINES,
    "Files": INPUT_FILES,
    "Word vectors": WORD_VECTORS,
    "The lexicon": LEXICON_PAIRS,
    "Pre-trained encoders": ENCODERS,
    "Domains": DOMAINS,
    "Collections and disks": COLLECTIONS,
    "Records": RECORDS,
}
CASES: Final = [case for cases in SECTIONS.values() for case in cases]


def cases_of(*treatments: str) -> list[Case]:
    """The cases that are treated so."""
    return [case for case in CASES if case.treatment in treatments]
