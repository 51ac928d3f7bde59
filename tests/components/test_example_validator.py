"""The strict ExampleValidator: an anomaly stops the run, in words."""

import re
from pathlib import Path

import pandas as pd
import pytest

from schemas import features as f
from schemas.errors import DataError

pytestmark = pytest.mark.stages

LISTS = {
    f.QUERY_ID: [b"1", b"2"],
    f.QUERY_DOMAIN: [b"", b"news"],
    f.QUERY_TEXT: [b"red fox", b"grey wolf"],
    f.DOC_ID: [[b"d1", b"d2"], [b"d3"]],
    f.DOC_TEXT: [[b"renard", b"loup"], [b"loup gris"]],
    f.RELEVANCE: [[2, 0], [2]],
    f.NEGATIVE_PLACE: [[-1, 0], [-1]],
}


@pytest.fixture(scope="module")
def train_statistics():
    import tensorflow_data_validation as tfdv

    return tfdv.generate_statistics_from_dataframe(pd.DataFrame(LISTS))


@pytest.fixture
def validate(tmp_path, make_artifact, train_statistics):
    """Runs the stage on the statistics of two splits, `train` and `test`."""
    import tensorflow_data_validation as tfdv
    from tfx.types import standard_component_specs as keys

    from components.example_validator import Executor

    statistics = make_artifact("ExampleStatistics", tmp_path, ["train", "test"])
    schema = make_artifact("Schema", tmp_path)
    anomalies = make_artifact("ExampleAnomalies", tmp_path)
    (Path(schema.uri) / "schema.pbtxt").write_text((Path(f.__file__).parent / "schema.pbtxt").read_text())

    def validate(test_lists):
        test_statistics = tfdv.generate_statistics_from_dataframe(pd.DataFrame(test_lists))
        for split, content in (("train", train_statistics), ("test", test_statistics)):
            Path(statistics.uri, f"Split-{split}", "FeatureStats.pb").write_bytes(content.SerializeToString())
        Executor().Do(
            {keys.STATISTICS_KEY: [statistics], keys.SCHEMA_KEY: [schema]}, {keys.ANOMALIES_KEY: [anomalies]}, {}
        )
        return anomalies

    return validate


def test_lists_that_fit_the_schema_pass(validate):
    anomalies = validate(LISTS)
    assert sorted(path.name for path in Path(anomalies.uri).iterdir()) == ["Split-test", "Split-train"]


@pytest.mark.parametrize(
    "faults",
    [
        {
            f.RELEVANCE: [[2, -1], [2]],
            f.DOC_ID: [[b"d1", b"d2"], []],
            f.QUERY_TEXT: [b"red fox", None],
            f.QUERY_ID: [[b"1", b"2"], [b"3"]],
            f.DOC_TEXT: None,
            "extra": [1, 2],
        },
        {f.RELEVANCE: [[2.0, 0.0], [2.0]]},
    ],
    ids=["of all kinds", "floats"],
)
def test_each_anomaly_stops_the_run_with_its_split_and_feature(validate, faults):
    with pytest.raises(DataError, match=r"schemas/schema\.pbtxt") as error:
        validate({name: values for name, values in {**LISTS, **faults}.items() if values})
    assert re.findall(r"^split (\w+), feature (\w+): \w", str(error.value), re.MULTILINE) == [
        ("test", name) for name in sorted(faults)
    ]


def test_an_empty_split_stops_the_run(validate):
    with pytest.raises(DataError, match="split test"):
        validate({name: [] for name in LISTS})
