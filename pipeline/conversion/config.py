"""The configuration that a conversion writes beside its files."""

from typing import Final

from pipeline.conversion.folder import CANDIDATES_FILE, DOCUMENTS_FILE, JUDGMENTS_FILE, QUERIES_FILE

USUAL_TOP_GRADE: Final = 2
RUN_FOLDER: Final = "run"
_LEAST, _MOST = 0.2, 0.7


def thresholds(top_grade: int) -> list[float]:
    """Thresholds between so many grades above 0 and the next lower: the paper's for 2, evenly spaced for others.

    Example:
      >>> thresholds(1), thresholds(3)
      ([0.5], [0.2, 0.45, 0.7])
    """
    if top_grade == 1:
        return [0.5]
    step = (_MOST - _LEAST) / (top_grade - 1)
    return [round(_LEAST + step * place, 3) for place in range(top_grade)]


def config_text(
    query_language: str, document_language: str, top_grade: int, negatives: int | None, has_candidates: bool
) -> str:
    """A configuration for `clir run`, whose paths are relative to its folder.

    Args:
      query_language, document_language: ISO 639-1 codes.
      top_grade: the grade of MR documents.
      negatives: NR documents that a run shall draw; None leaves that to its default.
      has_candidates: whether there is a candidates file.
    """
    data = [f"queries: {QUERIES_FILE}", f"documents: {DOCUMENTS_FILE}", f"judgments: {JUDGMENTS_FILE}"]
    if has_candidates:
        data.append(f"candidates: {CANDIDATES_FILE}")
    # Quoted, for YAML takes a bare `no` for false.
    data += [f'query_language: "{query_language}"', f'document_language: "{document_language}"']
    lines = ["# Made by clir convert. Whatever is not given here has its default: docs/settings.md."]
    if top_grade != USUAL_TOP_GRADE:
        data.append(f"top_grade: {top_grade}")
    if negatives is not None:
        data.append(f"negatives: {negatives}")
    lines += ["data:", *(f"  {line}" for line in data)]
    if top_grade != USUAL_TOP_GRADE:
        shown = ", ".join(f"{threshold:g}" for threshold in thresholds(top_grade))
        lines += ["loss:", f"  # {_comment(top_grade)}", f"  theta: [{shown}]"]
    return "\n".join([*lines, f"output: {RUN_FOLDER}", ""])


def _comment(top_grade: int) -> str:
    if top_grade == 1:
        return "The threshold between grades 0 and 1: a start, to be tuned on the eval split."
    return (
        f"A threshold below each grade, evenly spaced from {_LEAST} to {_MOST}: a start, to be tuned on the eval split."
    )
