"""Reads which articles link to which."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from components.wikipedia_gen.dumps.opened import OpenFile
from components.wikipedia_gen.dumps.sql_batches import read_batches
from components.wikipedia_gen.dumps.sql_columns import sql_columns
from components.wikipedia_gen.dumps.sql_values import Value
from components.wikipedia_gen.dumps.title_hash import encoded_title_hashes
from schemas.errors import DataError

_LINKS: Final = "pagelinks"
_TARGETS: Final = "linktarget"


class PageLinks(NamedTuple):
    """Many links from one article to another.

    Attributes:
      page_ids: of the pages with the links: int64 [links].
      title_hashes: of the titles to which they lead, see `title_hash`: uint64 [links].
      dangling: how many more links have a target that is no article, or of which there is no row.
    """

    page_ids: npt.NDArray[np.int64]
    title_hashes: npt.NDArray[np.uint64]
    dangling: int


def page_links(path: str, targets_path: str | None, open_file: OpenFile) -> Iterator[PageLinks]:
    """The links of `pagelinks.sql.gz` between pages of the main namespace, in the order of the dump.

    Since 2024 that table has numbers for the titles, which stand in `linktarget.sql.gz`: of these 16 bytes a title of
    the main namespace are held.

    Args:
      path: of the dump.
      targets_path: of that of `linktarget`; older dumps of links need none.
      open_file: opens them.

    Raises:
      DataError: see `read_rows`; or the titles are missing.
    """
    columns = sql_columns(path, _LINKS, open_file)
    if "pl_title" in columns:  # for some months there were both, and the numbers not yet everywhere
        yield from _with_titles(path, open_file)
    elif targets_path is None:
        raise DataError(
            f"{path}: its links name their targets by number, so that the titles must come from linktarget.sql.gz of "
            "the same dump; got none."
        )
    else:
        yield from _with_numbers(path, _Targets(targets_path, open_file), open_file)


class _Targets:
    """Hashes of the titles of the main namespace, by their numbers."""

    def __init__(self, path: str, open_file: OpenFile) -> None:
        numbers, hashes = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)]
        for batch in read_batches(path, _TARGETS, ("lt_id", "lt_namespace", "lt_title"), open_file):
            is_article = _integers(batch[1]) == 0
            numbers.append(_integers(batch[0])[is_article])
            hashes.append(_hashes(batch[2])[is_article])
        self._numbers, self._hashes = np.concatenate(numbers), np.concatenate(hashes)
        if np.any(self._numbers[1:] <= self._numbers[:-1]):
            order = np.argsort(self._numbers, kind="stable")
            self._numbers, self._hashes = self._numbers[order], self._hashes[order]

    def find(self, numbers: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.uint64]]:
        """Whether each number is that of a title: bool [numbers]; and the hashes of those that are."""
        places = np.searchsorted(self._numbers, numbers)
        is_there = places < len(self._numbers)
        is_there[is_there] = self._numbers[places[is_there]] == numbers[is_there]
        return is_there, self._hashes[places[is_there]]


def _with_numbers(path: str, targets: _Targets, open_file: OpenFile) -> Iterator[PageLinks]:
    for batch in read_batches(path, _LINKS, ("pl_from", "pl_from_namespace", "pl_target_id"), open_file):
        page_ids, namespaces, numbers = map(_integers, batch)
        is_article = namespaces == 0
        is_there, hashes = targets.find(numbers[is_article])
        yield PageLinks(page_ids[is_article][is_there], hashes, int(np.count_nonzero(~is_there)))


def _with_titles(path: str, open_file: OpenFile) -> Iterator[PageLinks]:
    columns = ("pl_from", "pl_from_namespace", "pl_namespace", "pl_title")
    for batch in read_batches(path, _LINKS, columns, open_file):
        page_ids, namespaces, target_namespaces = map(_integers, batch[:3])
        is_article = namespaces == 0
        is_there = is_article & (target_namespaces == 0)
        yield PageLinks(page_ids[is_there], _hashes(batch[3])[is_there], int(np.count_nonzero(is_article & ~is_there)))


def _integers(values: Sequence[Value]) -> npt.NDArray[np.int64]:
    return np.array(values, np.int64)


def _hashes(titles: Sequence[Value]) -> npt.NDArray[np.uint64]:
    return encoded_title_hashes(title.replace(b"_", b" ") for title in titles if isinstance(title, bytes))
