"""What a piece of a dump holds besides texts, as arrays: a worker writes them, and the building reads them back."""

import io
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class ArticleArrays(NamedTuple):
    """The articles and redirects of a piece of a dump, in the dump's order. Titles are hashes (`title_hash`)."""

    titles: npt.NDArray[np.uint64]
    """[articles]"""
    page_ids: npt.NDArray[np.int64]
    """[articles]"""
    kinds: npt.NDArray[np.uint8]
    """[articles], places in `KINDS`."""
    words: npt.NDArray[np.int32]
    """[articles], of their texts."""
    signatures: npt.NDArray[np.uint32]
    """[articles, `near_duplicates.HASHES`]"""
    link_counts: npt.NDArray[np.int32]
    """[articles]"""
    links: npt.NDArray[np.uint64]
    """[links], of one article after the other: the titles that it links to."""
    redirect_ids: npt.NDArray[np.int64]
    """[redirects], their page ids."""
    redirects: npt.NDArray[np.uint64]
    """[redirects], their titles."""
    redirect_targets: npt.NDArray[np.uint64]
    """[redirects], the titles that they lead to."""


Open = Callable[[str, str], Any]


def write_arrays(arrays: NamedTuple, path: str, open_file: Open) -> None:
    """Writes arrays by their names."""
    packed = io.BytesIO()
    np.savez(packed, **arrays._asdict())
    with open_file(path, "wb") as file:
        file.write(packed.getvalue())


def read_array(path: str, name: str, open_file: Open) -> npt.NDArray[Any]:
    """Reads one of them."""
    with open_file(path, "rb") as file, np.load(_seekable(file), allow_pickle=False) as arrays:
        array: npt.NDArray[Any] = arrays[name]
    return array


def _seekable(file: Any) -> Any:
    """A local file as it is; of another the bytes."""
    return file if isinstance(file, io.BufferedReader) else io.BytesIO(file.read())
