"""Transform: in one process it makes the vocabularies, graph and examples that TFX's own makes with Beam."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from components.transform.numbered_lists import number_lists
from components.transform.settings import TransformSettings
from models.settings import WordTableSource
from models.texts.tokens import ALL_WORDS, tokenize
from schemas import features as f
from schemas.cut_texts import CUT_FILE, CutReport, CutTexts
from schemas.word_rules import WordRules
from tests.components.on_both import WAYS, made
from tests.schemas.word_tables import word2vec, write

pytestmark = pytest.mark.stages

WORDS = "loup renard cerf élan nation nations national rouge rouges 東京 l'eau ½ \u0640".split()
TRAIN = {
    f"q{query}": (
        " ".join(f"word{(query * position) % 23}" for position in range(query % 6)),
        {
            f"d{(query + position) % 40}": (" ".join(WORDS[(query + position) % 40 % len(WORDS) :]), position % 3)
            for position in range(query % 5 + 1)
        },
    )
    for query in range(150)
}
MUSIC = {f"music/{query}": ("drum " * 9, {"d1": ("tambour " * 9, 2)}) for query in range(90)}
"""Words that are the most frequent of all where their domain is not held out."""
EVAL = {"e1": ("word1 unheard", {"d1": ("Loup unheard", 2), "d2": ("", 0)})}
LIMIT = 9
SCENARIOS = {
    # name: (train lists, the vocabulary with pre-trained vectors, whether these are trained, other settings)
    "own stems": (TRAIN, f.DOCUMENT_VOCABULARY, True, {}),
    "joint stems": (TRAIN | MUSIC, f.DOCUMENT_VOCABULARY, False, {"joint_stems": True, "held_out": ["music"]}),
}
BOTH_WAYS = pytest.mark.long  # TFX's takes 20 s, whatever the lists


@pytest.fixture(scope="module", params=SCENARIOS)
def scenario(request):
    return request.param


@pytest.fixture(scope="module")
def outputs(scenario, make_artifact, make_examples, tmp_path_factory):
    """Makes the graph and the transformed examples in one of the ways, once: artifacts."""
    from google.protobuf import json_format
    from tfx.proto import transform_pb2
    from tfx.types import standard_component_specs as keys

    from components.transform.component import Executor

    lists, vocabulary, train, values = SCENARIOS[scenario]
    table = write(tmp_path_factory.mktemp("table") / "fr.vec", word2vec({"Loup": [1.0, 2.0], "zorille": [3.0, 4.0]}))
    source = WordTableSource(path=table, sha256="", width=2, most_words=9, max_bad_share=0.0, train=train)
    settings = TransformSettings(
        vocabulary_size=12,
        rules=WordRules(max_tokens=LIMIT),
        stem_languages={f.QUERY_STEM_VOCABULARY: "en", f.DOCUMENT_STEM_VOCABULARY: "fr"},
        word_tables={vocabulary: source},
        **values,
    )
    examples = make_examples(tmp_path_factory.mktemp("examples"), EVAL, lists, EVAL)
    examples.set_string_custom_property("file_format", "tfrecords_gzip")
    examples.set_string_custom_property("payload_format", "FORMAT_TF_EXAMPLE")
    schema = make_artifact("Schema", tmp_path_factory.mktemp("schema"))
    (Path(schema.uri) / "schema.pbtxt").write_text((Path(f.__file__).parent / "schema.pbtxt").read_text())
    splits = transform_pb2.SplitsConfig(analyze=["train"], transform=["train", "eval"])

    @cache
    def outputs(way):
        folder = tmp_path_factory.mktemp("output")
        graph, transformed = (make_artifact(name, folder) for name in ("TransformGraph", "Examples"))
        made(Executor, way).Do(
            {keys.EXAMPLES_KEY: [examples], keys.SCHEMA_KEY: [schema]},
            {keys.TRANSFORM_GRAPH_KEY: [graph], keys.TRANSFORMED_EXAMPLES_KEY: [transformed]},
            {
                keys.PREPROCESSING_FN_KEY: "components.transform.preprocessing.preprocessing_fn",
                keys.CUSTOM_CONFIG_KEY: settings.model_dump_json(),
                keys.SPLITS_CONFIG_KEY: json_format.MessageToJson(splits),
                keys.DISABLE_STATISTICS_KEY: 1,
            },
        )
        assert json.loads(transformed.split_names) == ["train", "eval"]
        return graph, transformed

    return outputs


def vocabularies(graph, _):
    """The content of each file of words, and of their counts."""
    return {path.name: path.read_text() for path in (Path(graph.uri) / "transform_fn" / "assets").iterdir()}


@BOTH_WAYS
def test_both_ways_give_the_same_vocabularies(outputs, scenario):
    in_process, on_a_runner = (vocabularies(*outputs(way)) for way in WAYS)
    counts = f.COUNTS_OF_VOCABULARY[SCENARIOS[scenario][1]]
    assert in_process.keys() == {*f.COLUMN_OF_VOCABULARY, counts}
    assert in_process == on_a_runner


def test_joint_stems_are_those_of_both_languages_without_held_out_domains(outputs, scenario):
    words = {name: content.splitlines() for name, content in vocabularies(*outputs(WAYS[0])).items()}
    query_stems, document_stems = (words[name] for name in (f.QUERY_STEM_VOCABULARY, f.DOCUMENT_STEM_VOCABULARY))
    if scenario == "joint stems":
        assert query_stems == document_stems
        assert {"word", "elan"} <= {*query_stems}
        assert not {"drum", "tambo"} & {*query_stems}
    else:
        assert not {*query_stems} & {*document_stems}


def test_one_process_counts_what_the_limit_cuts(outputs, scenario):
    report = CutReport.from_json((Path(outputs(WAYS[0])[0].uri) / CUT_FILE).read_text())
    lists = [*SCENARIOS[scenario][0].values(), *EVAL.values()]
    queries = cut_of({query for query, _ in lists})
    documents = cut_of({text for _, documents in lists for text, _ in documents.values()})
    assert report == CutReport(limit=LIMIT, queries=queries, documents=documents)
    assert documents.cut_texts


def cut_of(texts):
    batch = tf.constant(sorted(texts))
    whole, left = (tokenize(batch, rules).row_lengths().numpy() for rules in (ALL_WORDS, WordRules(max_tokens=LIMIT)))
    return CutTexts(texts=len(texts), cut_texts=sum(whole > left), words=sum(whole), cut_words=sum(whole - left))


@pytest.mark.parametrize(("limit", "levels"), [(20, []), (19, ["INFO"]), (9, ["WARNING"])])
def test_documents_that_the_limit_cuts_are_logged_and_much_is_a_warning(make_examples, tmp_path, caplog, limit, levels):
    examples = make_examples(tmp_path, {"q": ("wolf", {"d": (" ".join(["loup"] * 20), 2)})})
    settings = TransformSettings(vocabulary_size=9, rules=WordRules(max_tokens=limit))
    with caplog.at_level("INFO", "clir"):
        numbered = number_lists(map(str, Path(examples.uri, "Split-test").iterdir()), settings)
    for texts in numbered.texts.values():
        texts.ids(np.zeros(len(texts.words), np.int32))  # closes its file
    assert [record.levelname for record in caplog.records if "documents" in record.getMessage()] == levels


@BOTH_WAYS
def test_both_ways_give_the_same_schemas(outputs):
    import tensorflow_transform as tft

    in_process, on_a_runner = (tft.TFTransformOutput(outputs(way)[0].uri) for way in WAYS)
    assert in_process.transformed_metadata.schema == on_a_runner.transformed_metadata.schema
    assert in_process.raw_metadata.schema == on_a_runner.raw_metadata.schema
    assert in_process.vocabulary_file_by_name(f.QUERY_VOCABULARY).endswith("assets/query_vocabulary")
    assert not (Path(outputs(WAYS[1])[0].uri) / CUT_FILE).exists()  # TFX counts no cuts


@BOTH_WAYS
def test_both_ways_give_the_same_examples(outputs, scenario):
    for split, lists in (("train", SCENARIOS[scenario][0]), ("eval", EVAL)):
        in_process, on_a_runner = (examples(*outputs(way), split) for way in WAYS)
        assert len(in_process) == len(lists)
        assert in_process == on_a_runner


def examples(_, transformed, split):
    """By query id."""
    files = sorted(map(str, Path(transformed.uri, f"Split-{split}").iterdir()))
    records = map(tf.train.Example.FromString, tf.data.TFRecordDataset(files, "GZIP").as_numpy_iterator())
    return {example.features.feature[f.QUERY_ID].bytes_list.value[0]: example for example in records}


def test_the_graph_of_one_process_needs_nothing_beside_it(outputs, tmp_path):
    import tensorflow_transform as tft

    graph = Path(outputs(WAYS[0])[0].uri)
    graph.rename(tmp_path / "moved")
    layer = tft.TFTransformOutput(str(tmp_path / "moved")).transform_features_layer()
    documents = tf.ragged.constant([[" ".join(WORDS)]])
    result = layer({f.QUERY_TEXT: tf.constant(["word1"]), f.DOC_TEXT: documents, f.DOC_ID: documents})
    assert all(result[name].flat_values.shape[0] > 0 for name in (f.DOC_TOKENS, f.DOC_STEMS))
