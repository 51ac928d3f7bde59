"""Transform: in one process it makes the vocabularies, graph and examples that TFX's own makes with Beam."""

import json
from pathlib import Path

import pytest
import tensorflow as tf

from components.transform.settings import TransformSettings
from models.texts.tokens import ALL_WORDS, tokenize
from schemas import features as f
from schemas.cut_texts import CUT_FILE, CutReport, CutTexts
from schemas.word_rules import WordRules
from tests.components.on_both import WAYS, made

pytestmark = pytest.mark.stages

WORDS = "loup renard cerf élan nation nations national rouge rouges 東京 l'eau ½ \u0640".split()
TRAIN = {
    f"q{query}": (
        " ".join(f"word{(query * place) % 23}" for place in range(query % 6)),
        {
            f"d{(query + place) % 40}": (" ".join(WORDS[(query + place) % 40 % len(WORDS) :]), place % 3)
            for place in range(query % 5 + 1)
        },
    )
    for query in range(150)
}
EVAL = {"e1": ("word1 unheard", {"d1": ("Loup unheard", 2), "d2": ("", 0)})}
SETTINGS = TransformSettings(
    vocabulary_size=12,
    rules=WordRules(max_tokens=9),
    stem_languages={f.QUERY_STEM_VOCABULARY: "en", f.DOCUMENT_STEM_VOCABULARY: "fr"},
)


@pytest.fixture(
    scope="module", params=[False, pytest.param(True, marks=pytest.mark.long)], ids=["own stems", "joint stems"]
)
def outputs(request, make_artifact, make_examples, tmp_path_factory):
    """The graph and the transformed examples of each way: artifacts."""
    from google.protobuf import json_format
    from tfx.proto import transform_pb2
    from tfx.types import standard_component_specs as keys

    from components.transform.component import Executor

    examples = make_examples(tmp_path_factory.mktemp("examples"), EVAL, TRAIN, EVAL)
    examples.set_string_custom_property("file_format", "tfrecords_gzip")
    examples.set_string_custom_property("payload_format", "FORMAT_TF_EXAMPLE")
    schema = make_artifact("Schema", tmp_path_factory.mktemp("schema"))
    (Path(schema.uri) / "schema.pbtxt").write_text((Path(f.__file__).parent / "schema.pbtxt").read_text())
    splits = transform_pb2.SplitsConfig(analyze=["train"], transform=["train", "eval"])
    found = {}
    for way in WAYS:
        folder = tmp_path_factory.mktemp("output")
        graph, transformed = (make_artifact(name, folder) for name in ("TransformGraph", "Examples"))
        made(Executor, way).Do(
            {keys.EXAMPLES_KEY: [examples], keys.SCHEMA_KEY: [schema]},
            {keys.TRANSFORM_GRAPH_KEY: [graph], keys.TRANSFORMED_EXAMPLES_KEY: [transformed]},
            {
                keys.PREPROCESSING_FN_KEY: "components.transform.preprocessing.preprocessing_fn",
                keys.CUSTOM_CONFIG_KEY: SETTINGS.model_copy(update={"joint_stems": request.param}).model_dump_json(),
                keys.SPLITS_CONFIG_KEY: json_format.MessageToJson(splits),
                keys.DISABLE_STATISTICS_KEY: 1,
            },
        )
        assert json.loads(transformed.split_names) == ["train", "eval"]
        found[way] = graph, transformed
    return found


def test_both_ways_give_the_same_vocabularies(outputs):
    one, other = ({path.name: path.read_bytes() for path in vocabularies(*outputs[way])} for way in WAYS)
    assert one.keys() == {*f.COLUMN_OF_VOCABULARY}
    assert one == other


def test_joint_stems_are_those_of_both_languages(outputs, request):
    of_queries, of_documents = (
        {path.name: path.read_text().splitlines() for path in vocabularies(*outputs[WAYS[0]])}[name]
        for name in (f.QUERY_STEM_VOCABULARY, f.DOCUMENT_STEM_VOCABULARY)
    )
    if "joint" in request.node.callspec.id:
        assert of_queries == of_documents
        assert {"word", "elan"} <= {*of_queries}
    else:
        assert not {*of_queries} & {*of_documents}


def test_one_process_counts_what_the_limit_cuts_and_a_runner_does_not(outputs):
    found = CutReport.from_json((Path(outputs[WAYS[0]][0].uri) / CUT_FILE).read_text())
    lists = [*TRAIN.values(), *EVAL.values()]
    queries = cut_of({query for query, _ in lists})
    documents = cut_of({text for _, documents in lists for text, _ in documents.values()})
    assert found == CutReport(limit=SETTINGS.rules.max_tokens, queries=queries, documents=documents)
    assert queries.cut_texts and documents.cut_texts
    assert not (Path(outputs[WAYS[1]][0].uri) / CUT_FILE).exists()


def cut_of(texts):
    batch = tf.constant(sorted(texts))
    whole, left = (tokenize(batch, most).row_lengths().numpy() for most in (ALL_WORDS, SETTINGS.rules))
    return CutTexts(texts=len(texts), cut_texts=sum(whole > left), words=sum(whole), cut_words=sum(whole - left))


def vocabularies(graph, _):
    return list((Path(graph.uri) / "transform_fn" / "assets").iterdir())


def test_both_ways_give_the_same_schemas(outputs):
    import tensorflow_transform as tft

    one, other = (tft.TFTransformOutput(outputs[way][0].uri) for way in WAYS)
    assert one.transformed_metadata.schema == other.transformed_metadata.schema
    assert one.raw_metadata.schema == other.raw_metadata.schema
    assert one.vocabulary_file_by_name(f.QUERY_VOCABULARY).endswith("assets/query_vocabulary")


@pytest.mark.parametrize(("split", "count"), [("train", 150), ("eval", 1)])
def test_both_ways_give_the_same_examples(outputs, split, count):
    one, other = (examples(*outputs[way], split) for way in WAYS)
    assert len(one) == count
    assert one == other


def examples(_, transformed, split):
    """By query id."""
    files = sorted(map(str, Path(transformed.uri, f"Split-{split}").iterdir()))
    found = [tf.train.Example.FromString(one) for one in tf.data.TFRecordDataset(files, "GZIP").as_numpy_iterator()]
    return {one.features.feature[f.QUERY_ID].bytes_list.value[0]: one for one in found}


def test_the_graph_of_one_process_needs_nothing_beside_it(outputs, tmp_path):
    import tensorflow_transform as tft

    graph = Path(outputs[WAYS[0]][0].uri)
    graph.rename(tmp_path / "moved")
    layer = tft.TFTransformOutput(str(tmp_path / "moved")).transform_features_layer()
    documents = tf.ragged.constant([[" ".join(WORDS)]])
    result = layer({f.QUERY_TEXT: tf.constant(["word1"]), f.DOC_TEXT: documents, f.DOC_ID: documents})
    assert all(result[name].flat_values.shape[0] > 0 for name in f.IDS)
