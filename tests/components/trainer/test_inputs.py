"""The inputs of a training, as TFX passes them."""

from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from tensorflow import keras

from models.lexicon.cl_lsi import ClLsi
from models.lexicon.settings import ClLsiSettings
from models.lists.ranking_lists import TEXT_SPEC
from models.rankers.settings import ChannelSettings
from models.texts.tokens import ALL_WORDS
from models.training.settings import TrainingSettings
from schemas import features as f
from schemas.word_rules import WordRules
from tests.models.eagerly import EAGERLY
from tests.models.lexicon.small_lexicon import learn, make_channel, scores
from tests.models.synthetic import write_examples
from tests.models.training_job import training_job

pytestmark = [pytest.mark.stages, *EAGERLY]  # it imports TFX


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Reads the inputs of a training with some of its settings, and with a channel of words that match, if any."""
    from models.training import inputs

    transform = SimpleNamespace(
        transformed_feature_spec=lambda: TEXT_SPEC,
        vocabulary_size_by_name=lambda name: 1,
        vocabulary_by_name=lambda name: [b"word"],
    )
    monkeypatch.setattr(inputs.tft, "TFTransformOutput", lambda path: transform)

    def example(query_id, grades):
        ids = {
            "query_id": [query_id],
            "query_domain": [query_id.partition(b"/")[0] if b"/" in query_id else b""],
            "query_text": [b"a b"],
            "doc_id": [*grades],
            "doc_text": [*grades],
        }
        positions = [-1 if grade else position for position, grade in enumerate(grades.values())]
        return {**ids, "relevance": [*grades.values()], "negative_place": positions}

    write_examples(
        tmp_path / "train", [example(b"q1", {b"a": 2, b"b": 0, b"c": 0}), example(b"q2", {b"b": 1, b"a": 0})]
    )
    write_examples(tmp_path / "eval", [example(b"q3", {b"a": 2, b"c": 0})])

    def read(channels=(), in_training=False, negatives_from="all", **settings):
        paths = {split: str(tmp_path / split) for split in ("train", "eval")}
        job = training_job(
            training=TrainingSettings(negatives_from=negatives_from),
            channels={
                kind: ChannelSettings.model_validate({"kind": kind, "in_training": in_training}) for kind in channels
            },
            texts=paths if channels else {},
            **{"rules": ALL_WORDS, **settings},
        )
        files = {f"{split}_files": [path] for split, path in paths.items()}
        unused = {"transform_graph_path": "", "model_run_dir": None, "serving_model_dir": None, "hyperparameters": None}
        return inputs.read_inputs(inputs.TrainingArguments(job=job.model_dump_json(), **unused, **files))

    read.example = example
    return read


def test_the_inputs_without_a_domain_have_no_list_of_it_and_it_has_the_eval_lists_to_fit_on(read, tmp_path):
    for split in ("train", "eval"):
        lists = [read.example(f"{name}/{split}".encode(), {b"a": 2, b"b": 0}) for name in ("news", "arts", "health")]
        write_examples(tmp_path / split, lists)
    inputs = read(held_out=("health",), lexicon="folder")
    assert (inputs.domains, inputs.train_lists.domains) == (["arts", "news"], ["arts", "news"])
    assert [inputs.without(name).job.lexicon for name in inputs.domains] == ["folder/without/0", "folder/without/1"]
    without = inputs.without("arts")
    assert (without.train_lists.query_ids, without.eval_lists.query_ids) == ([b"news/train"], [b"news/eval"])
    assert without.eval_lists_of("arts").query_ids == [b"arts/eval"]
    assert without.job.held_out == ("health", "arts")


def test_an_adversary_sees_queries_of_held_out_domains_with_random_documents_and_no_grade(read, tmp_path):
    names = ("news", "arts", "health")
    lists = [read.example(f"{name}/{number}".encode(), {b"a": 2, b"b": 0}) for name in names for number in range(2)]
    write_examples(tmp_path / "train", lists)
    texts = {"weight": 0.1, "held_out_texts": True}
    lists = read(held_out=("health",), adversary=texts).held_out_texts
    assert (lists.query_ids, {len(ids) for ids in lists.doc_ids}) == ([b"health/0", b"health/1"], {2})
    assert not np.concatenate(lists.grades).any()
    # Without a discriminator nothing sees them.
    for adversary in ({**texts, "weight": 0}, {**texts, "held_out_texts": False}):
        assert read(held_out=("health",), adversary=adversary).held_out_texts is None
    # A ranker for a fitted weight shows the texts of the domain that it is trained without, too.
    without = read(held_out=("health",), adversary=texts).without("arts").held_out_texts
    assert [*map(bytes.decode, without.query_ids)] == ["arts/0", "arts/1", "health/0", "health/1"]


@pytest.mark.parametrize(("setting", "own"), [("floatx", "float64"), ("epsilon", 1e-3)])
def test_a_user_s_own_settings_of_keras_change_no_number(read, setting, own):
    before = getattr(keras.backend, setting)()
    getattr(keras.backend, f"set_{setting}")(own)
    read()
    assert getattr(keras.backend, setting)() == before


def test_all_nr_documents_are_read_or_the_first_drawn_ones_and_judged_ones_of_train_lists_alone(read):
    assert read().train_lists.doc_ids == [[b"a", b"b", b"c"], [b"b", b"a"]]
    judged = read(negatives_from="judged")
    assert (judged.train_lists.doc_ids, judged.eval_lists.doc_ids) == ([[b"a", b"b"], [b"b", b"a"]], [[b"a", b"c"]])
    # Of q1, b is the first by its place; c, the second, is left out either way.
    assert read(used_negatives=1, negatives_from="judged").train_lists.doc_ids == [[b"a"], [b"b"]]
    assert read(used_negatives=2, negatives_from="judged").train_lists.doc_ids == [[b"a", b"b"], [b"b", b"a"]]


@pytest.fixture
def lexicon(tmp_path):
    """A lexicon of three documents, whose files lie in `tmp_path`."""
    lexicon = learn([], [["a"], ["b"], ["c"]], "bm25")
    for name, content in lexicon.files():
        (tmp_path / name).write_text(content)
    return lexicon


def test_a_channel_in_training_scores_the_train_lists_too_without_those_documents_that_are_left_out(
    read, lexicon, tmp_path
):
    inputs = read(channels=["bm25"], lexicon=str(tmp_path), in_training=True, negatives_from="judged")
    assert inputs.channels_in_training.keys() == {"bm25"}
    assert inputs.train_lists.doc_ids == [[b"a", b"b"], [b"b", b"a"]]
    list_scores = inputs.train_lists.list_columns["fixed_score_bm25"].to_list()
    channel = make_channel(lexicon)
    assert list_scores[0] == pytest.approx(scores(channel, ["a b"], ["a", "b"])[0].tolist())
    assert list_scores[1] == pytest.approx(scores(channel, ["a b"], ["b", "a"])[0].tolist())


def test_a_channel_of_the_lexicon_scores_the_eval_lists_alone(read, lexicon, tmp_path):
    inputs = read(channels=["bm25"], lexicon=str(tmp_path))
    (expected,) = scores(make_channel(lexicon), ["a b"], ["a", "c"])
    (list_scores,) = inputs.eval_lists.list_columns["fixed_score_bm25"].to_list()
    assert list_scores == pytest.approx(expected.tolist())
    assert "fixed_score_bm25" not in inputs.train_lists.list_columns
    assert inputs.train_texts().query_ids == [b"q1", b"q2"]


def test_a_channel_of_pairs_is_learned_of_the_train_texts_in_their_languages(read, monkeypatch):
    calls = []

    def make(inputs):
        calls.append(inputs)
        return make_channel(learn([], [["a"]], "bm25"))

    monkeypatch.setattr(ClLsi, "make", make)
    inputs = read(channels=["cl_lsi"], languages=("en", "fr"), rules=WordRules(max_tokens=7))
    (received,) = calls
    assert received.settings == ClLsiSettings()
    assert (received.name, received.job.languages, received.job.rules.max_tokens) == ("cl_lsi", ("en", "fr"), 7)
    assert received.job == inputs.job
    assert received.train_texts().query_ids == [b"q1", b"q2"]
    assert received.eval_texts().query_ids == [b"q3"]


def test_a_channel_that_needs_a_lexicon_is_refused_without_one(read):
    with pytest.raises(ValueError, match="bm25"):
        read(channels=["bm25"])


def test_the_best_numbers_of_a_search_stand_in_the_job():
    from models.training.inputs import TrainingArguments

    paths = dict.fromkeys(["transform_graph_path", "model_run_dir", "serving_model_dir"], "")
    arguments = TrainingArguments(
        job=training_job().model_dump_json(),
        hyperparameters={"values": {"epsilon": 0.25}},
        train_files=[],
        eval_files=[],
        **paths,
    )
    assert arguments.training_job.towers.epsilon == 0.25


@pytest.mark.parametrize(
    ("languages", "expected"),
    [(("en", "fr"), [np.log(3 / 2.5), np.log(3 / 1.5)]), (("fr", "fr"), [np.log(4 / 1.5), np.log(4 / 0.5)])],
    ids=["across two", "within one"],
)
def test_within_one_language_a_word_of_a_query_is_as_rare_as_it_is_among_documents(languages, expected):
    from models.training import inputs

    words = {f.QUERY_VOCABULARY: [b"lave", b"neuf"], f.DOCUMENT_VOCABULARY: [b"mont", b"lave"]}
    lists = SimpleNamespace(
        query_columns={f.QUERY_TOKENS: tf.ragged.constant([[0], [0, 1]])},
        document_columns={f.DOC_TOKENS: tf.ragged.constant([[0], [0, 1], [0, 0]])},
    )
    job = training_job(training=TrainingSettings(), languages=languages)
    idf = inputs._idf(f.QUERY_VOCABULARY, job, SimpleNamespace(vocabulary_by_name=words.get), lists)
    np.testing.assert_allclose(idf, expected, rtol=1e-6)
