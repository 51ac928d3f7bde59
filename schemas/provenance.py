"""The provenance of figures: the code, settings, data and libraries that made a run, or all cells of a report."""

from collections.abc import Mapping
from typing import Final

from schemas.json_record import JsonRecord

PROVENANCE_FILE: Final = "provenance.json"
"""Beside a cell's results, and beside an experiment's report."""

Digests = dict[str, str | list[str | None]]
"""From each stage to its digest, or to a list with each cell's digest where they differ; None for a cell without it."""


class Provenance(JsonRecord):
    """The provenance of a run, independent of the machine's folders."""

    commit: str | None
    """The commit of the code; None where the code is not that of a commit."""
    libraries: dict[str, str]
    """The versions of Python and of the libraries that compute."""
    data: dict[str, str]
    """The digest of each input, by its dotted setting."""
    code: dict[str, str]
    """The digest of each stage's code, by the stage's name."""
    settings: dict[str, str]
    """The digest of the settings of each stage and of the stages before it."""


class ReportProvenance(JsonRecord):
    """The provenance of all cells of a report."""

    commits: list[str | None]
    """The commits of the cells, in their order; None where the code was not that of a commit."""
    libraries: dict[str, str]
    data: dict[str, str]
    cells: list[str]
    """The names of the cells."""
    code: Digests
    settings: Digests

    @classmethod
    def from_cells(cls, cells: Mapping[str, Provenance]) -> "ReportProvenance":
        """Joins the provenance of one or more cells, given by their names. They share libraries and data."""
        first = next(iter(cells.values()))
        return cls(
            commits=[*dict.fromkeys(cell.commit for cell in cells.values())],
            libraries=first.libraries,
            data=first.data,
            cells=[*cells],
            code=_by_stage([cell.code for cell in cells.values()]),
            settings=_by_stage([cell.settings for cell in cells.values()]),
        )

    def commit_text(self) -> str:
        """Returns the commits in words.

        Example:
          >>> nothing = {"libraries": {}, "data": {}, "cells": [], "code": {}, "settings": {}}
          >>> ReportProvenance(commits=["0123456789", None], **nothing).commit_text()
          'commit 0123456, uncommitted code'
        """
        return ", ".join(f"commit {commit[:7]}" if commit else "uncommitted code" for commit in self.commits)


def _by_stage(cells: list[dict[str, str]]) -> Digests:
    stages = dict.fromkeys(stage for cell in cells for stage in cell)
    values = {stage: [cell.get(stage) for cell in cells] for stage in stages}
    return {stage: digests[0] if len({*digests}) == 1 and digests[0] else digests for stage, digests in values.items()}
