"""Writes docs/commands.md from the commands' help:

.venv/bin/python -m smooth_clir.cli.commands_doc > docs/commands.md
"""

import sys
from collections.abc import Iterator
from typing import Final

import click

from smooth_clir.cli.main import COMMANDS, clir

_HEADER: Final = """# Commands

`clir` is `.venv/bin/clir` after `make setup`. `clir` lists the commands by groups, `clir COMMAND --help` explains all
options of a command. This page is generated from the help (`python -m smooth_clir.cli.commands_doc >
docs/commands.md`), and a test compares the two.
"""
_FOOTER: Final = """
The shell completes commands and options after

```sh
eval "$(_CLIR_COMPLETE=bash_source clir)"
```

(`zsh_source` in zsh, `fish_source` in fish).

Results go to stdout, all other lines to stderr. Exit codes: 0 done, 1 failed (also if the gate refused the model), 2
wrong use.
"""
_PAGES: Final = {
    "convert": "recipes.md",
    "wikipedia": "wikipedia.md",
    "run": "runs.md",
    "experiment": "experiments/README.md",
    "report": "experiments/README.md",
    "compare": "recipes.md#rankings-and-judgments-out",
    "compile": "kubeflow.md",
    "index": "search.md",
    "search": "search.md",
    "serve": "search.md",
    "export": "search.md#the-documents-in-another-engine",
    "replay": "serving.md#check-it",
    "label": "domains.md#a-collection-without-judgments",
    "lexicon": "formats.md#the-lexicon",
}
"""The pages that say more about a command."""


def page() -> Iterator[str]:
    """Yields the lines of the page."""
    yield _HEADER
    for group, commands in COMMANDS.items():
        yield f"## {group}\n"
        yield "| command | what it does | options |"
        yield "| --- | --- | --- |"
        yield from map(_row, commands)
        yield ""
    yield _FOOTER.strip()


def _row(command: click.Command) -> str:
    """Returns the row of a command: its usage, the first paragraph of its help, and its options."""
    context = click.Context(command, parent=click.Context(clir, info_name="clir"), info_name=command.name)
    usage = " ".join(piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]")
    summary = " ".join((command.help or "").split("\n\n")[0].split())
    name = command.name or ""
    more = f" [More]({_PAGES[name]})." if name in _PAGES else ""
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    names = ", ".join(f"`{max(option.opts, key=len)}`" for option in options)
    command_line = " ".join(["clir", name, usage]).strip().replace("|", r"\|")
    return f"| `{command_line}` | {summary}{more} | {names} |"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in page())
