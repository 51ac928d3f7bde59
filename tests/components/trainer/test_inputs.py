"""What TFX hands to a training, unpacked."""

from types import SimpleNamespace

import pytest

from models.lists.ranking_lists import TEXT_SPEC
from tests.models.synthetic import write_examples

pytestmark = pytest.mark.beam  # it imports TFX


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Reads the inputs of a training with some of its settings."""
    from components.trainer import inputs
    from components.trainer.training_arguments import TRAINING_KEY, TrainingArguments

    transform = SimpleNamespace(transformed_feature_spec=lambda: TEXT_SPEC)
    monkeypatch.setattr(inputs.tft, "TFTransformOutput", lambda path: transform)

    def example(query_id, grades):
        ids = {
            "query_id": [query_id],
            "query_text": [b"text"],
            "doc_id": [*grades],
            "doc_text": [b"text"] * len(grades),
        }
        places = [-1 if grade else place for place, grade in enumerate(grades.values())]
        return {**ids, "relevance": [*grades.values()], "negative_place": places}

    write_examples(
        tmp_path / "train", [example(b"q1", {b"a": 2, b"b": 0, b"c": 0}), example(b"q2", {b"b": 1, b"a": 0})]
    )
    write_examples(tmp_path / "eval", [example(b"q3", {b"a": 2, b"c": 0})])

    def read(used_negatives=None, **training):
        config = {inputs.MODEL_KEY: {}, inputs.LOSS_KEY: {}, TRAINING_KEY: training, inputs.SOURCES_KEY: {}}
        config |= {inputs.TOP_GRADE_KEY: 2, inputs.USED_NEGATIVES_KEY: used_negatives}
        files = {"train_files": [str(tmp_path / "train")], "eval_files": [str(tmp_path / "eval")]}
        unused = {"transform_graph_path": "", "model_run_dir": None, "serving_model_dir": None, "hyperparameters": None}
        return inputs.read_inputs(TrainingArguments(**unused, custom_config=config, **files))

    return read


def test_all_nr_documents_are_read_by_default(read):
    assert read().train_lists.doc_ids == [[b"a", b"b", b"c"], [b"b", b"a"]]


def test_judged_nr_documents_are_chosen_in_train_lists_alone(read):
    inputs = read(negatives_from="judged")
    assert inputs.train_lists.doc_ids == [[b"a", b"b"], [b"b", b"a"]]
    assert inputs.eval_lists.doc_ids == [[b"a", b"c"]]


def test_the_number_of_used_nr_documents_comes_before_the_choice_of_judged_ones(read):
    # Of q1, b is the first by its place; c, the second, is left out either way.
    assert read(used_negatives=1, negatives_from="judged").train_lists.doc_ids == [[b"a"], [b"b"]]
    assert read(used_negatives=2, negatives_from="judged").train_lists.doc_ids == [[b"a", b"b"], [b"b", b"a"]]
