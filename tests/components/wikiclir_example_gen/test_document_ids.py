"""The ids of documents: hashes and samples."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.wikiclir_example_gen.document_ids import DocumentIds, id_hashes, random_rows
from tests.components.collected import collect

pytestmark = pytest.mark.stages  # it imports Beam

IDS = [f"d{number}é" for number in range(40)]


def document_ids(folder: Path, files: int, max_documents: int, seed: int = 1):
    """The ids of a collection with this number of files."""
    cut = -(-len(IDS) // files)
    lines = [f"{doc_id}\tt\tx\n".encode() for doc_id in IDS]
    parts = [b"no document\n" + b"".join(lines[first : first + cut]) for first in range(0, len(lines), cut)]
    path = folder / f"{files}-{seed}" / "collection"
    return DocumentIds(str(path), collect(path, {"documents": parts})["documents"], max_documents, seed)


@pytest.mark.parametrize("files", [1, 4])
def test_of_a_collection_that_fits_the_sample_is_all_in_the_order_of_the_files(tmp_path, files):
    documents = document_ids(tmp_path, files, max_documents=len(IDS))
    assert list(documents.sample) == IDS
    assert documents.include([*IDS, "d40é", ""]) == [True] * len(IDS) + [False] * 2
    assert documents.include([]) == []


def test_the_sample_of_a_larger_collection_depends_on_the_seed_and_not_on_the_files(tmp_path):
    whole, in_four, seed_2 = (document_ids(tmp_path, files, 15, seed) for files, seed in ((1, 1), (4, 1), (1, 2)))
    assert list(whole.sample) == list(in_four.sample) != list(seed_2.sample)
    numbers = [IDS.index(doc_id) for doc_id in whole.sample]
    assert len(numbers) == 15 and numbers == sorted(numbers)
    assert all(in_four.include(IDS))


@given(st.sets(st.integers(0, 500), min_size=1), st.randoms(), st.integers(0, 99), st.data())
def test_a_sample_depends_on_ids_and_seed_and_not_on_their_order(numbers, random, seed, data):
    ids = [b"d%d" % number for number in numbers]
    shuffled = random.sample(ids, len(ids))
    count = data.draw(st.integers(0, len(ids)))
    sampled, again = ({names[row] for row in random_rows(id_hashes(names), seed, count)} for names in (ids, shuffled))
    assert sampled == again and len(sampled) == count


def test_every_document_is_sampled_equally_often():
    hashes = id_hashes(doc_id.encode() for doc_id in IDS)
    sampled = Counter(row for seed in range(2000) for row in random_rows(hashes, seed, 10).tolist())
    share = 10 / len(IDS)
    for row in range(len(IDS)):
        assert sampled[row] == pytest.approx(2000 * share, abs=5 * (2000 * share * (1 - share)) ** 0.5)


def test_hashes_are_the_same_in_every_version():
    # Another hash would sample other documents.
    assert id_hashes([b"d1", b"d2"]).tolist() == [2878387810984711164, 4700741041894862004]
    assert id_hashes([]).dtype == np.uint64
