"""StatisticsGen: in one process it makes the statistics that TFX's own makes with Beam."""

import json

import pytest

from schemas.features import WITHOUT_TITLES
from tests.components.on_both import WAYS, made

pytestmark = pytest.mark.stages

TRAIN = {
    f"q{query}": (
        f"query {query % 7}",
        {f"d{index}": (f"a text of document {index} " * (index % 5), index % 3) for index in range(query % 9 + 1)},
    )
    for query in range(150)
}
TEST = {"q1": ("", {"d1": ("", 2)})}


@pytest.fixture(scope="module")
def statistics(make_artifact, make_examples, tmp_path_factory):
    """The statistics of each way, by split."""
    import tensorflow_data_validation as tfdv
    from tfx.types import standard_component_specs as keys

    from components.statistics_gen import Executor

    options = tfdv.StatsOptions(feature_allowlist=list(WITHOUT_TITLES), use_sketch_based_topk_uniques=True)
    examples = make_examples(tmp_path_factory.mktemp("examples"), TEST, TRAIN)
    examples.set_string_custom_property("file_format", "tfrecords_gzip")
    examples.set_string_custom_property("payload_format", "FORMAT_TF_EXAMPLE")
    datasets = {}
    for way in WAYS:
        artifact = make_artifact("ExampleStatistics", tmp_path_factory.mktemp("statistics"))
        made(Executor, way).Do(
            {keys.EXAMPLES_KEY: [examples]},
            {keys.STATISTICS_KEY: [artifact]},
            {keys.STATS_OPTIONS_JSON_KEY: options.to_json()},
        )
        assert json.loads(artifact.split_names) == ["train", "eval", "test"]
        datasets[way] = {
            split: tfdv.load_stats_binary(f"{artifact.uri}/Split-{split}/FeatureStats.pb").datasets[0]
            for split in ("train", "eval", "test")
        }
    return datasets


def features(dataset):
    """By name, with deviations to ten digits, for sums of floats depend on their order."""
    for feature in dataset.features:
        if feature.HasField("num_stats"):
            feature.num_stats.std_dev = round(feature.num_stats.std_dev, 10)
    return {feature.path.step[0]: feature for feature in dataset.features}


@pytest.mark.parametrize(("split", "count"), [("train", len(TRAIN)), ("eval", 0), ("test", len(TEST))])
def test_both_ways_give_the_same_statistics(statistics, split, count):
    ours, tfx = (statistics[way][split] for way in WAYS)
    assert ours.num_examples == tfx.num_examples == count
    assert sorted(features(ours)) == (sorted(WITHOUT_TITLES) if count else [])
    assert features(ours) == features(tfx)
