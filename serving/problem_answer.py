"""A refusal as it goes over the wire."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from serving.refusals import Busy, Refusal


def problem_answer(refusal: Refusal, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a request that is refused.

    Args:
      refusal: with the status and the sentence.
      headers: of the answer, besides.
    """
    again = {"retry-after": str(refusal.retry_after)} if isinstance(refusal, Busy) else {}
    return sentence_answer(refusal.status, refusal.sentence, {**again, **(headers or {})})


def sentence_answer(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """An answer of a status and a sentence alone."""
    content: dict[str, Any] = {"error": sentence}
    return Response(json.dumps(content), status, dict(headers or {}), "application/json")
