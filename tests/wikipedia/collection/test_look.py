"""wikipedia/collection/look.py: a look into a dump sees its pages, wherever they lie, and what is wrong with them."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from schemas.errors import DataError
from smooth_clir.wikipedia.collection import look
from smooth_clir.wikipedia.collection.look import Look, estimate_making, look_into, preflight
from smooth_clir.wikipedia.dumps.chunks import dump_chunks
from smooth_clir.wikipedia.settings import WikipediaSettings
from tests.wikipedia.dumps.dump_files import dump, multistream, page

PAGES = [page(number, f"Thing {number}", f"'''Thing {number}''' lies in the woods.") for number in range(1, 8)]
NAME = "enwiki-20260101-pages-articles-multistream"


@pytest.fixture
def chunks_of_bytes(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Divides dumps into chunks of so many bytes, as if they were larger."""

    def divide(size: int) -> None:
        monkeypatch.setattr(look, "dump_chunks", partial(dump_chunks, chunk_bytes=size))

    return divide


def settings_of(pages: str) -> WikipediaSettings:
    return WikipediaSettings.model_validate({"wikis": {"en": {"pages": pages}}, "queries": "text"})


def look_at(*paths: Path) -> Look:
    return look_into([("en", "en")], settings_of(str(paths[0])), {"wikis.en.pages": [str(path) for path in paths]})[0]


def multistream_dump(folder: Path, in_stream: int, has_index: bool) -> Path:
    content, index = multistream(PAGES, in_stream)
    path = folder / f"{NAME}.xml.bz2"
    path.write_bytes(content)
    if has_index:
        (folder / f"{NAME}-index.txt.bz2").write_bytes(index)
    return path


@pytest.mark.parametrize("has_index", [True, False], ids=["index", "no index"])
@pytest.mark.parametrize(("size", "in_stream"), [(1, 1), (1, 7), (700, 2), (1_500, 1), (1 << 23, 2)])
def test_all_pages_of_a_small_dump_are_read(
    tmp_path: Path, chunks_of_bytes: Callable[[int], None], size: int, in_stream: int, has_index: bool
) -> None:
    chunks_of_bytes(size)
    seen = look_at(multistream_dump(tmp_path, in_stream, has_index))
    assert (seen.account.read, seen.account.articles, seen.share) == (7, 7, 1.0)
    assert sorted(title for title, _, _ in seen.examples) == [f"Thing {number}" for number in range(1, 8)]


def test_an_estimate_of_a_small_dump_counts_its_pages(tmp_path: Path, chunks_of_bytes: Callable[[int], None]) -> None:
    path = multistream_dump(tmp_path, 7, has_index=False)
    # The footer's stream is a chunk of its own, and the middle one of two.
    chunks_of_bytes(path.stat().st_size - 200)
    assert len(dump_chunks(str(path), path.stat().st_size - 200)) == 2
    made = estimate_making([("en", "en")], settings_of(str(path)), {"wikis.en.pages": [str(path)]}, processes=1)
    assert made.pages == 7


def test_a_full_disk_is_refused_before_anything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "SMALL_BYTES", 0)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 10, 0))  # type: ignore[attr-defined]
    path = multistream_dump(tmp_path, 7, has_index=False)
    with pytest.raises(DataError, match="1 MB"):
        preflight([("en", "en")], settings_of(str(path)), {"wikis.en.pages": [str(path)]}, str(tmp_path), print)


def test_parts_without_pages_are_passed_over(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.xml" for number in range(3)]
    for path, pages in zip(paths, (PAGES[:3], [], PAGES[3:]), strict=True):
        path.write_bytes(dump(*pages))
    assert look_at(*paths).account.articles == 7


def test_a_look_ends_after_its_time_and_its_least_pages(
    tmp_path: Path, chunks_of_bytes: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "_SECONDS", 0.0)
    monkeypatch.setattr(look, "_MIN_PAGES", 2)
    chunks_of_bytes(1)
    seen = look_at(multistream_dump(tmp_path, 1, has_index=True))
    assert seen.account.read == 3
    assert 0 < seen.share < 1


def test_suspicious_first_sentences_are_counted_with_examples(tmp_path: Path) -> None:
    texts = {
        "A": "'''A''' is a good town.",
        "B": "[[Foo:bar|thumb|View]]|thumb '''B''' is a town.",
        "C": "'''C''' (in the north is a town.",
        "D": "'''D''' (in the south is a town.",
        "E": "{{Infobox}}",
    }
    path = tmp_path / "a.xml"
    path.write_bytes(dump(*(page(number, title, text) for number, (title, text) in enumerate(texts.items(), 1))))
    seen = look_at(path)
    assert (seen.sentences, seen.without_lead) == (4, 1)
    assert seen.suspicious == {"with an unbalanced bracket": 2, "with markup": 1}
    lines = "\n".join(seen.describe())
    assert "75.0% of 4 " in lines and "C (with an unbalanced bracket): C (in the north is a town." in lines
    assert [example["title"] for example in seen.as_dict()["suspicious_examples"]] == ["B", "C"]
    path.write_bytes(dump(*PAGES))
    assert any("0.0% of 7 " in line for line in look_at(path).describe())
