"""A first look at the input files, in well under a second: missing, empty, unreadable or swapped."""

import itertools
import os
from collections.abc import Iterator, Mapping

from schemas.wikiclir import Drop, Judgment, Text, parse_candidates, parse_judgments, parse_texts

_LINES = 2000
_ANY_GRADE = 1 << 30


def check_input_files(paths: Mapping[str, str]) -> list[tuple[str, str]]:
    """Looks at the head of every file.

    Args:
      paths: the file of each role: queries, documents, judgments, and perhaps candidates.

    Returns:
      (role, fault) for each fault.
    """
    faults: list[tuple[str, str]] = []
    heads: dict[str, list[Text | Judgment]] = {}
    for role, path in paths.items():
        fault = _file_fault(path)
        if fault is None:
            heads[role], fault = _head(role, path)
        if fault is not None:
            faults.append((role, fault))
    if not faults:
        faults += _swapped(paths, heads)
    return faults


def _file_fault(path: str) -> str | None:
    if os.path.isdir(path):
        return f"must be a file; {path} is a folder."
    if not os.path.exists(path):
        return f"there is no file {path}."
    if os.path.getsize(path) == 0:
        return f"{path} is empty."
    if not os.access(path, os.R_OK):
        return f"{path} cannot be read: permission denied."
    return None


def _head(role: str, path: str) -> tuple[list[Text | Judgment], str | None]:
    """The first records of a file; a fault where there is none."""
    with open(path, "rb") as stream:
        parsed: Iterator[Text | Judgment | Drop]
        if role == "judgments":
            parsed = parse_judgments(stream, path, _ANY_GRADE)
        elif role == "candidates":
            parsed = parse_candidates(stream, path, _ANY_GRADE)
        else:
            parsed = parse_texts(stream, path)
        items = list(itertools.islice(parsed, _LINES))
    records = [item for item in items if not isinstance(item, Drop)]
    if records:
        return records, None
    if not items:
        return [], f"{path} holds no line."
    first = next(item for item in items if isinstance(item, Drop))
    form = {
        "judgments": "query_id, doc_id, grade",
        "candidates": "query_id, doc_id, grade, split",
    }.get(role, "id, title, text")
    return [], (
        f"{path} must hold lines of {form}, separated by tabs, but none of its first {len(items)} is one; "
        f"{path}:{first.line}: {first.reason.text}: {first.excerpt}"
    )


def _swapped(paths: Mapping[str, str], heads: Mapping[str, list[Text | Judgment]]) -> Iterator[tuple[str, str]]:
    """Finds files in each other's place, by their form and by the ids that the judgments name."""
    for role in ("queries", "documents"):
        texts = [record for record in heads[role] if isinstance(record, Text)]
        if all(text.text.isdigit() and not any(c.isspace() for c in text.title) for text in texts):
            yield role, f"{paths[role]} looks like judgments (id, id, grade); is it swapped with data.judgments?"
            return
    judged = [record for record in heads["judgments"] if isinstance(record, Judgment)]
    queries = {record[0] for record in heads["queries"]}
    documents = {record[0] for record in heads["documents"]}
    straight = sum((one.query_id in queries) + (one.doc_id in documents) for one in judged)
    crossed = sum((one.query_id in documents) + (one.doc_id in queries) for one in judged)
    if straight == 0 and crossed > 0:
        yield (
            "queries",
            (
                f"the ids that {paths['judgments']} names as queries stand in {paths['documents']}, and the other way "
                "round; are data.queries and data.documents swapped?"
            ),
        )
