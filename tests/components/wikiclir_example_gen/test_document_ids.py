"""The ids of documents: hashes and samples."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.wikiclir_example_gen.document_ids import DocumentIds, id_hashes, random_places
from tests.components.collected import collect

pytestmark = pytest.mark.stages  # it imports Beam

IDS = [f"d{number}é" for number in range(40)]


def document_ids(folder: Path, files: int, most: int, seed: int = 1):
    """The ids of a collection with this number of files."""
    cut = -(-len(IDS) // files)
    lines = [f"{doc_id}\tt\tx\n".encode() for doc_id in IDS]
    parts = [b"no document\n" + b"".join(lines[first : first + cut]) for first in range(0, len(lines), cut)]
    roles = collect(folder / f"{files}" / "collection", {"documents": parts})
    return DocumentIds(str(folder / f"{files}" / "collection"), roles["documents"], most, seed)


@pytest.mark.parametrize("files", [1, 4])
def test_of_a_collection_that_fits_the_sample_is_all_in_the_order_of_the_files(tmp_path, files):
    found = document_ids(tmp_path, files, most=len(IDS))
    assert list(found.sample) == IDS
    assert found.include([*IDS, "d40é", ""]) == [True] * len(IDS) + [False] * 2
    assert found.include([]) == []


def test_the_sample_of_a_larger_collection_does_not_depend_on_its_files(tmp_path):
    one, four = (document_ids(tmp_path, files, most=15) for files in (1, 4))
    assert list(one.sample) == list(four.sample)
    assert len(one.sample) == 15
    places = [IDS.index(doc_id) for doc_id in one.sample]
    assert places == sorted(places)
    assert all(four.include(IDS))


def test_another_seed_samples_other_documents(tmp_path):
    one, other = (list(document_ids(tmp_path / str(seed), 1, 15, seed).sample) for seed in (1, 2))
    assert one != other


@given(st.sets(st.integers(0, 500), min_size=1), st.randoms(), st.integers(0, 99), st.data())
def test_a_sample_depends_on_ids_and_seed_and_not_on_their_order(numbers, random, seed, data):
    ids = [b"d%d" % number for number in numbers]
    shuffled = random.sample(ids, len(ids))
    count = data.draw(st.integers(0, len(ids)))
    one, other = ({some[place] for place in random_places(id_hashes(some), seed, count)} for some in (ids, shuffled))
    assert one == other
    assert len(one) == count


def test_every_document_is_sampled_equally_often():
    hashes = id_hashes(doc_id.encode() for doc_id in IDS)
    sampled = Counter(place for seed in range(2000) for place in random_places(hashes, seed, 10).tolist())
    share = 10 / len(IDS)
    for place in range(len(IDS)):
        assert sampled[place] == pytest.approx(2000 * share, abs=5 * (2000 * share * (1 - share)) ** 0.5)


def test_hashes_are_the_same_in_every_version():
    # Another hash would sample other documents.
    assert id_hashes([b"d1", b"d2"]).tolist() == [2878387810984711164, 4700741041894862004]
    assert id_hashes([]).dtype == np.uint64
