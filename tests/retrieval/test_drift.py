"""The drift of an index: the divergence and its laws, and the statistics of documents against those of a lexicon."""

import os
from math import log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from models.exported.model import LoadedModel
from models.lexicon.learn_lexicon import learn_lexicon
from models.lexicon.lexicon import Kind
from models.texts.tokens import ALL_WORDS
from schemas.index_manifest import SEGMENTS, Drift, IndexManifest
from schemas.wikiclir import Text
from smooth_clir.retrieval.assemble_index import assemble_index
from smooth_clir.retrieval.drift import jensen_shannon
from smooth_clir.retrieval.segment import encode_documents
from tests.models.loaded_once import model_of_vectors, model_with_words
from tests.models.small_lexicon import COLLECTION, PAIRS

pytestmark = pytest.mark.tensors

WEIGHTS = st.one_of(st.just(0.0), st.floats(1e-3, 1e6))
DISTRIBUTIONS = arrays(np.float64, 6, elements=WEIGHTS).filter(lambda weights: weights.sum() > 0)


def test_a_hand_value() -> None:
    # P = (1, 0), Q = (1/2, 1/2), M = (3/4, 1/4).
    p_part, q_part = log2(1 / 0.75), 0.5 * log2(0.5 / 0.75) + 0.5 * log2(0.5 / 0.25)
    assert jensen_shannon(np.array([3.0, 0.0]), np.array([5.0, 5.0])) == pytest.approx((p_part + q_part) / 2)


@given(p=DISTRIBUTIONS, q=DISTRIBUTIONS, factor=st.floats(1e-3, 1e3))
def test_it_is_symmetric_0_for_equal_distributions_and_1_where_nothing_has_a_weight_in_both(
    p: np.ndarray, q: np.ndarray, factor: float
) -> None:
    divergence = jensen_shannon(p, q)
    assert 0 <= divergence <= 1
    assert divergence == pytest.approx(jensen_shannon(q, p), abs=1e-12)
    assert jensen_shannon(p, p * factor) == pytest.approx(0, abs=1e-12)  # whatever their sums
    zeros = np.zeros(6)
    assert jensen_shannon(np.concatenate([p, zeros]), np.concatenate([zeros, q])) == pytest.approx(1)


def test_a_side_without_weights_is_refused() -> None:
    with pytest.raises(ValueError, match="0 and 1"):
        jensen_shannon(np.zeros(1), np.ones(1))


# Of an index

WORDS = ["chat", "blanc", "chien", "un", "lune", "noir", "loup", "ararat", "moon", "zzz", "!"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=9)
KINDS = pytest.mark.parametrize("kind", ["lexicon", "bm25"])


def drift_of(model: LoadedModel, folder: Path, texts: list[str], max_documents: int = 3) -> Drift:
    """The drift of an index of texts, in segments of at most this many."""
    os.makedirs(folder / SEGMENTS)
    documents = [Text(f"d{number}", "", text, 1) for number, text in enumerate(texts)]
    records = list(encode_documents(model, documents, str(folder / SEGMENTS), 0, max_documents=max_documents))
    manifest = assemble_index(str(folder), "0a", records, len(records), statistics=model.statistics())
    assert IndexManifest.from_json(manifest.to_json()) == manifest
    return manifest.drift


@pytest.mark.stages
@KINDS
def test_the_model_s_own_documents_do_not_drift(tmp_path: Path, kind: Kind) -> None:
    drift = drift_of(model_with_words(kind), tmp_path / "1", COLLECTION)
    assert (drift.documents, drift.unknown_share, drift.reason) == (len(COLLECTION), 0, "")
    assert drift.documents == drift.model_documents
    assert drift.length_ratio == pytest.approx(1)
    assert drift.divergence == pytest.approx(0, abs=1e-6)


@pytest.mark.stages
@KINDS
@settings(max_examples=8, deadline=None, phases=[Phase.generate])
@given(texts=TEXTS, max_documents=st.integers(1, 9))
def test_the_frequencies_are_those_that_a_lexicon_would_count_and_segments_make_no_difference(
    tmp_path_factory: pytest.TempPathFactory, kind: Kind, texts: list[str], max_documents: int
) -> None:
    folder = tmp_path_factory.mktemp("index")
    whole, drift = (drift_of(model_with_words(kind), folder / str(size), texts, size) for size in (100, max_documents))
    assert drift.model_dump(exclude={"divergence"}) == whole.model_dump(exclude={"divergence"})
    model, indexed = (dict[bytes, float]() for _ in range(2))
    for counted, collection in ((model, COLLECTION), (indexed, texts)):
        lexicon = learn_lexicon(kind, ("en", "fr"), ALL_WORDS, PAIRS, collection)
        counted |= zip(lexicon.terms, lexicon.document_frequency.tolist(), strict=True)
    terms = sorted(model.keys() | indexed.keys())
    weights = [np.array([counted.get(term, 0.0) for term in terms]) for counted in (indexed, model)]
    if weights[0].any():
        assert drift.divergence == pytest.approx(jensen_shannon(*weights), abs=1e-5)
        assert drift.divergence == pytest.approx(whole.divergence, abs=1e-9)
    else:
        assert drift.divergence is whole.divergence is None


@pytest.mark.stages
def test_a_term_is_unknown_that_neither_the_lexicon_nor_the_vectors_have(tmp_path: Path) -> None:
    # The lexicon and the towers know chat, the lexicon alone noir; "!" is no word.
    drift = drift_of(model_with_words(), tmp_path / "1", ["chat noir zzz !", "qqq qqq"])
    assert (drift.unknown_share, drift.mean_length) == (3 / 5, 5 / 2)
    for number, texts in enumerate(([], ["!"]), 2):
        drift = drift_of(model_with_words(), tmp_path / str(number), texts)
        assert (drift.documents, drift.divergence, bool(drift.reason)) == (len(texts), None, True)


@pytest.mark.stages
def test_without_a_lexicon_lengths_and_unknown_words_are_measured(tmp_path: Path) -> None:
    drift = drift_of(model_of_vectors(), tmp_path / "1", ["chat noir blanc", "un chien"])
    assert (drift.documents, drift.mean_length, drift.unknown_share) == (2, 5 / 2, 1 / 5)
    assert (drift.model_documents, drift.model_mean_length, drift.divergence) == (None, None, None)
    assert drift.reason
