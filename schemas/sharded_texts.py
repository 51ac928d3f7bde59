"""Texts that lie in several files, which may be read elsewhere."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

Text = bytes | str
_Result = TypeVar("_Result")


class ShardedTexts:
    """The texts of a collection, file by file.

    Args:
      paths: of the files.
      read: path -> the texts of that file.
      apply: applies a function to items, as `map` does, perhaps elsewhere.
    """

    def __init__(
        self,
        paths: Sequence[str],
        read: Callable[[str], Iterator[Text]],
        apply: Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]] = map,
    ) -> None:
        self._paths, self._read, self._apply = paths, read, apply

    def __iter__(self) -> Iterator[Text]:
        for path in self._paths:
            yield from self._read(path)

    def each(self, work: Callable[[Iterable[Text]], _Result]) -> Iterable[_Result]:
        """What a function makes of the texts of each file, in order."""
        return self._apply(partial(_work_on_file, work, self._read), self._paths)


def each_shard(texts: Iterable[Text], work: Callable[[Iterable[Text]], _Result]) -> Iterable[_Result]:
    """What a function makes of the texts of each file; other texts than `ShardedTexts` count as one file.

    Example:
      >>> list(each_shard(["a", "b"], len))
      [2]
    """
    return texts.each(work) if isinstance(texts, ShardedTexts) else [work(texts)]


def _work_on_file(
    work: Callable[[Iterable[Text]], _Result], read: Callable[[str], Iterator[Text]], path: str
) -> _Result:
    return work(read(path))
