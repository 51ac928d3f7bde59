"""The listwise example: feature names, and `schema.pbtxt`, which must agree with them."""

from pathlib import Path

import pytest
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

from schemas import features as f

TEXT_FEATURES = {f.QUERY_ID, f.QUERY_DOMAIN, f.QUERY_TEXT, f.DOC_ID, f.DOC_TEXT}
LIST_FEATURES = {f.DOC_ID, f.DOC_TEXT, f.RELEVANCE, f.NEGATIVE_PLACE}


@pytest.fixture(scope="module")
def schema():
    text = (Path(f.__file__).parent / "schema.pbtxt").read_text()
    return text_format.Parse(text, schema_pb2.Schema())


def test_schema_names_the_features_and_no_title(schema):
    names = [feature.name for feature in schema.feature]
    assert sorted(names) == sorted(TEXT_FEATURES | LIST_FEATURES)
    assert {*names} == {*f.WITHOUT_TITLES}


def test_schema_types_and_shapes_are_those_of_a_list(schema):
    for feature in schema.feature:
        assert feature.type == (schema_pb2.BYTES if feature.name in TEXT_FEATURES else schema_pb2.INT)
        assert feature.presence.min_fraction == 1
        if feature.name in LIST_FEATURES:
            assert (feature.value_count.min, feature.value_count.max) == (1, 0)  # at least one, no upper bound
        else:
            assert feature.HasField("shape") and not feature.shape.dim  # one value


def test_schema_gives_ragged_lists(schema):
    assert schema.represent_variable_length_as_ragged


def test_schema_allows_no_negative_grade(schema):
    (relevance,) = (feature for feature in schema.feature if feature.name == f.RELEVANCE)
    assert relevance.int_domain.min == 0 and not relevance.int_domain.max
