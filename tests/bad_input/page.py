"""Writes docs/bad-input.md from the catalogue and from what is really said of each case:

.venv/bin/python -m tests.bad_input.page > docs/bad-input.md
"""

import sys
import tempfile
import textwrap
from pathlib import Path

from tests.bad_input.case import ACCEPTED, AT_ONCE, BY_THE_RUN, LEFT_OUT, Case
from tests.bad_input.cases import SECTIONS, cases_of
from tests.bad_input.seen import Seen, ingest_cases, run_case

INTRODUCTION = """# Bad input

What becomes of bad input, and what is said of it. This page is generated from the catalogue in `tests/bad_input`
and the messages that its cases really get (`python -m tests.bad_input.page > docs/bad-input.md`); tests compare the
two. Long lines are folded here, and the command ran in the files' folder.

- **Refused before anything runs**: on stderr, all faults at once, before TensorFlow is imported.
- **Refused by the run**: the stage that meets it ends the run. What the stages before it made stays in the cache.
- **Counted and left out**: it costs one record. The run says how many were left out and why, and
  `<output>/data/report.json` says where the first ones stand: below, as file, line, reason and record. Too many of them
  end the run (`data.max_bad_share`).
- **Accepted**: it is read like any other.

The exit code is 2 where the command or the configuration is wrong, and 1 where the data, a model or the disk is.
"""

WIDTH = 110


def block(case: Case, seen: Seen) -> str:
    """The page's section about one case."""
    code = "" if seen.code is None else f" Exit code {seen.code}."
    lines = [
        line
        for message in seen.said
        for line in textwrap.wrap(message, WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    ]
    said = "\n".join(["\n```text", *lines, "```\n"]) if lines else ""
    return f"**{case.wrong}**\n{case.treatment}.{code}\n{said}"


def page(seen: dict[str, Seen]) -> str:
    """The text of docs/bad-input.md."""
    parts = [INTRODUCTION]
    for title, cases in SECTIONS.items():
        parts += [f"## {title}\n", *(block(case, seen[case.name]) for case in cases)]
    return "\n".join(parts)


def main() -> None:
    """Runs every case and writes the page to stdout."""
    with tempfile.TemporaryDirectory() as folder:
        seen = {}
        for case in cases_of(AT_ONCE, BY_THE_RUN):
            (Path(folder) / case.name).mkdir()
            seen[case.name] = run_case(case, Path(folder) / case.name)
        seen |= ingest_cases(cases_of(LEFT_OUT, ACCEPTED), Path(folder))
    sys.stdout.write(page(seen))


if __name__ == "__main__":
    main()
