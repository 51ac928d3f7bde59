"""A kill at any moment while an index is made, replaced, changed or pushed: the last whole version is there, and the
same work then completes."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from models.exported.model import LoadedModel
from schemas.wikiclir import Text
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.index_versions import IndexVersions, push_index
from smooth_clir.retrieval.update_index import IndexUpdater
from tests.models.small_lexicon import export_with_words
from tests.moments import drawn, moments, put_back, read_files

pytestmark = pytest.mark.stages

MIN_VECTORS: Final = 12
"""The smallest number of vectors that get lists."""
MAX_DOCUMENTS: Final = 4
"""The largest number of documents of a segment."""
WORDS: Final = ["chat", "blanc", "chien", "un", "lune", "noir", "loup", "ararat", "zzz"]
QUERIES: Final = ("white cat", "dog", "moon over ararat", "loup")
TEXTS: Final = [" ".join(words) for words in np.random.default_rng(1).choice(WORDS, (40, 4))]


def documents(first: int, end: int) -> list[Text]:
    return [Text(f"d{number}", "title", TEXTS[number], 1) for number in range(first, end)]


class Index:
    """An index in a folder, and what brings it to its next version.

    Args:
      path: folder of the exported model.
      folder: of the index.
    """

    def __init__(self, path: str, folder: Path) -> None:
        self.folder = folder
        model = LoadedModel(path)
        self._queries = [model.encode_query(query) for query in QUERIES]
        self._updater = IndexUpdater(path, IndexVersions(folder), min_vectors=MIN_VECTORS, max_documents=MAX_DOCUMENTS)
        self.run_index = folder.with_name("of_run")
        put_back(self.run_index, read_files(Path(self._updater.replace_all(documents(24, 40)).version)))
        put_back(folder, {})
        self._updater.replace_all(documents(0, 16))
        self._updater.change(documents(16, 19), [])
        self.before = read_files(folder)
        """An index that was made, and changed once."""

    def replace(self) -> None:
        self._updater.replace_all(documents(0, 18))

    def change(self) -> None:
        self._updater.change(documents(18, 24), ["d0", "d5"])

    def push(self) -> None:
        push_index(str(self.run_index), str(self.folder))

    def answers(self) -> list[list[tuple[bytes, float]]]:
        """The newest version's answers to some queries."""
        if (newest := IndexVersions(self.folder).newest()) is None:
            return []
        index = CorpusIndex(str(newest))
        return [[(hit.doc_id, hit.score) for hit in index.search(query, 10)] for query in self._queries]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("index")
    return Index(export_with_words(folder / "model"), folder / "index")


@pytest.mark.parametrize(
    ("work", "is_first"),
    [(Index.replace, True), (Index.replace, False), (Index.change, False), (Index.push, True), (Index.push, False)],
)
def test_a_kill_at_any_moment_leaves_the_last_whole_version(
    index: Index, work: Callable[[Index], None], is_first: bool
) -> None:
    put_back(index.folder, {} if is_first else index.before)
    old_answers = index.answers()
    kills = moments(index.folder, lambda: work(index))
    new_answers = index.answers()
    assert old_answers != new_answers
    for kill in drawn(kills, 7, ("os.rename",)):
        put_back(index.folder, kill.files)
        assert index.answers() in (old_answers, new_answers), kill.act
        work(index)
        assert index.answers() == new_answers, kill.act
        assert all(name.isdecimal() or name == ".lock" for name in os.listdir(index.folder)), kill.act
