"""Fifty kills while an index is made, replaced, changed or pushed: the last whole version is there, and goes on."""

import os
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pytest

from components.index_pusher.index_versions import IndexVersions, push_index
from models.exported.model import LoadedModel
from models.retrieval.corpus_index import CorpusIndex
from serving.update_index import IndexUpdater
from tests.models.small_lexicon import export_with_words
from tests.serving.dying_update import LEAST, MOST, DyingUpdate, Recorded, Work

pytestmark = pytest.mark.long

KILLS: Final = 10
"""Kills of each piece of work: at named steps, then at random times; the model itself encodes in the first of
these, and in the others what it gave before stands for it."""
WORDS: Final = ["chat", "blanc", "chien", "un", "lune", "noir", "loup", "ararat", "zzz"]
QUERIES: Final = ("white cat", "dog", "moon over ararat", "loup")

Answers = list[list[tuple[bytes, float]]]


class Case(NamedTuple):
    """A piece of work, and what an index is before it."""

    work: Work
    before: Path | None
    """Folder of the versions; None where there is no index."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return export_with_words(tmp_path_factory.mktemp("model") / "model")


@pytest.fixture(scope="module")
def model(path: str) -> LoadedModel:
    return LoadedModel(path)


@pytest.fixture(scope="module")
def recorded(model: LoadedModel, cases: dict[str, Case]) -> Recorded:
    return Recorded(model, sorted({text for case in cases.values() for _, text in case.work.documents}))


@pytest.fixture(scope="module")
def answers(model: LoadedModel) -> Callable[[Path | None], Answers]:
    """Returns the answers of an index's version."""

    def of(newest: Path | None) -> Answers:
        if newest is None:
            return []
        index = CorpusIndex(str(newest))
        found = [index.search(model.encode_query(query), 10) for query in QUERIES]
        return [[(one.doc_id, one.score) for one in results] for results in found]

    return of


@pytest.fixture(scope="module")
def cases(path: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    generator = np.random.default_rng(1)

    def documents(first: int, size: int) -> tuple[tuple[str, str], ...]:
        return tuple((f"d{first + one}", " ".join(generator.choice(WORDS, 4))) for one in range(size))

    folder = tmp_path_factory.mktemp("before")
    before, pushed = folder / "index", folder / "pushed"
    done(Work("replace", path, documents(0, 16)), before)
    done(Work("change", path, documents(16, 3)), before)
    version = done(Work("replace", path, documents(100, 16)), pushed)
    return {
        "a first index": Case(Work("replace", path, documents(0, 16)), None),
        "a replacement": Case(Work("replace", path, documents(0, 18)), before),
        "a change": Case(Work("change", path, documents(18, 6), ("d0", "d5")), before),
        "a first push": Case(Work("push", str(version)), None),
        "a push": Case(Work("push", str(version)), before),
    }


def done(work: Work, folder: Path) -> Path:
    """Does the work in this process; the newest version."""
    if work.kind == "push":
        return Path(push_index(work.model, str(folder)))
    updater = updater_of(work.model, folder)
    if work.kind == "replace":
        return Path(updater.replace_all(work.texts()).version)
    return Path(updater.change(work.texts(), work.removed).version)


@cache
def updater_of(model: str, folder: Path) -> IndexUpdater:
    return IndexUpdater(model, IndexVersions(folder), least=LEAST, most=MOST)


@pytest.mark.parametrize("name", ["a first index", "a replacement", "a change", "a first push", "a push"])
def test_a_kill_at_any_moment_leaves_the_last_whole_version(
    cases: dict[str, Case],
    recorded: Recorded,
    answers: Callable[[Path | None], Answers],
    tmp_path: Path,
    name: str,
) -> None:
    case, generator = cases[name], np.random.default_rng(len(name))
    folder = tmp_path / "index"

    def restore() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        if case.before:
            shutil.copytree(case.before, folder)

    restore()
    update = DyingUpdate(case.work, str(folder), recorded)
    started = time.monotonic()
    steps = update.steps()
    length = time.monotonic() - started
    assert steps
    old, new = answers(case.before and IndexVersions(case.before).newest()), answers(IndexVersions(folder).newest())
    assert old != new

    def check() -> None:
        assert answers(IndexVersions(folder).newest()) in (old, new)
        assert answers(done(case.work, folder)) == new
        assert all(entry.isdecimal() or entry == ".lock" for entry in os.listdir(folder))

    named = named_steps(steps)
    for step in named:
        restore()
        assert DyingUpdate(case.work, str(folder), recorded, step).steps() is None
        check()
    kills = len(named)
    while kills < KILLS:
        restore()
        update = DyingUpdate(case.work, str(folder), recorded if kills > len(named) else None)
        kills += update.steps(generator.uniform(0, length)) is None
        check()


def named_steps(steps: list[str]) -> list[int]:
    """The rename that makes the version, the steps beside it, and others at even distances."""
    rename = steps.index("os.rename")
    others = np.linspace(0, len(steps) - 1, 3).round().astype(int).tolist()
    return sorted({rename - 1, rename, rename + 1, *others})
