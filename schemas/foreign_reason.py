"""Why a line of a foreign layout is left out, beyond the reasons that it shares with ours."""

from schemas.drops import DropReason


class ForeignReason(DropReason):
    """Besides `schemas.wikiclir.Reason`: what only other layouts have, or only a conversion decides.

    Example:
      >>> ForeignReason.BAD_JSON.text, ForeignReason.BAD_JSON.bad
      ('no JSON object', True)
    """

    HEADER = ("header", False)
    EMPTY_LINE = ("empty line", False)
    BAD_JSON = ("no JSON object", True)
    NO_ID = ("no id under _id, doc_id, query_id, docno or id", True)
    NO_TEXT = ("no text under text", True)
    BAD_GRADE = ("grade is no integer up to 100", True)
    BAD_SCORE = ("score is no finite number", True)
    BEYOND_DEPTH = ("document beyond --depth", False)
    NO_TOP_GRADE = ("query without a document of the top grade", False)
    NOT_IN_RUN = ("query without a document in the run", False)
    NO_TOP_GRADE_IN_RUN = ("test query without a document of the top grade in the run", False)
