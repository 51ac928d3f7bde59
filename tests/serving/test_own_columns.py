"""Columns that a TF Serving which forms batches has added."""

import numpy as np

from serving.tf_serving_client import own_columns

INPUTS = {"query": np.array(["q"]), "documents": np.array([["d", "e"]])}


def test_scores_of_added_documents_are_taken_off() -> None:
    padded = {"scores": np.float32([[0.5, 0.25, 0.5, 0.5]]), "lexicon": np.float32([[1, 0, 1, 1]])}
    found = own_columns("score", INPUTS, padded)
    assert {name: array.tolist() for name, array in found.items()} == {"scores": [[0.5, 0.25]], "lexicon": [[1, 0]]}


def test_other_signatures_outputs_stay_as_they_are() -> None:
    outputs = {"vector": np.zeros((1, 64))}
    assert own_columns("encode_query", {"query": np.array(["q"])}, outputs) is outputs
