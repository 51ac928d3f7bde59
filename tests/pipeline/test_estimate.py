"""pipeline/estimate.py: the size of a collection of files, and the memory and disk that follow from it."""

import gzip

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pipeline import estimate, even_sample
from pipeline.config import RunConfig, with_channel
from pipeline.config_file import load_config
from pipeline.estimate import estimate_run, size_of_collection
from schemas.cut_texts import CutTexts
from schemas.errors import DataError
from schemas.splits import SPLITS, split_of
from tests.models.encoders.small_encoder import DIM, ENDPOINT, CountingEncoder

pytestmark = pytest.mark.tensors

QUERIES = 40
NEGATIVES = 7
FILES = {
    "queries": [f"q{number}\tTitle\tthree words {'more ' * number}of" for number in range(QUERIES)],
    "documents": [f"d{number}\tTitre\tl'été {number}, trois mots" for number in range(60)],
    "judgments": [f"q{q}\td{q + offset}\t{grade}" for q in range(QUERIES) for offset, grade in enumerate([2, 1, 1, 0])],
}
"""A list has a document of the top grade, two of grade 1 and one of grade 0, and what is drawn."""


@pytest.fixture
def config(tmp_path):
    """Loads a configuration of files that it writes: those above, or others by role."""

    def write(*overrides, **files):
        data = {"query_language": "en", "document_language": "fr"}
        for role, lines in (FILES | files).items():
            text = "".join(f"{line}\n" for line in lines).encode()
            path = tmp_path / role
            path.write_bytes(gzip.compress(text) if role == "documents" else text)
            data[role] = role
        (tmp_path / "run.yaml").write_text(yaml.safe_dump({"data": data, "output": "out"}))
        return load_config(str(tmp_path / "run.yaml"), overrides)

    return write


def test_lists_are_those_of_the_splits_with_what_is_drawn(config):
    size = size_of_collection(config(f"data.negatives={NEGATIVES}"))
    lists = {split: [q for q in range(QUERIES) if split_of(f"q{q}") == split] for split in SPLITS}
    assert size.lists == {split: len(queries) for split, queries in lists.items()}
    assert size.pairs == {split: (4 + NEGATIVES) * len(queries) for split, queries in lists.items()}
    assert size.documents == 60
    assert size.document_bytes == sum(len(f"{line}\n".encode()) for line in FILES["documents"])
    assert size.document_words == 5  # l, été, the number, trois, mots
    assert size.query_words == sum(3 + number for number in range(QUERIES)) / QUERIES
    assert size.vocabularies == (4, 4 + 60)  # three words more of; l été trois mots, and a number each


def test_words_beyond_the_limit_do_not_count(config):
    size = size_of_collection(config("data.max_document_tokens=4"))
    assert size.document_words == 4
    assert size.cut_documents == CutTexts(texts=60, cut_texts=60, words=300, cut_words=60)
    assert size.cut_documents.is_much
    assert size.query_words == sum(min(3 + number, 4) for number in range(QUERIES)) / QUERIES


def test_settings_that_change_the_lists_are_followed(config):
    def pairs(*overrides):
        return size_of_collection(config(*overrides)).pairs

    usual = size_of_collection(config())
    assert pairs("data.negatives=1000")["train"] == 60 * usual.lists["train"]  # no longer than the collection
    assert pairs("data.used_negatives=2") == {split: (3 + 2) * lists for split, lists in usual.lists.items()}
    assert pairs("data.test_negatives=50") == {**usual.pairs, "test": (4 + 50) * usual.lists["test"]}
    assert sum(size_of_collection(config("data.max_queries=30")).lists.values()) == 30
    words = size_of_collection(config("data.query_words=10")).query_words
    assert words == sum(min(3 + number, 10) for number in range(QUERIES)) / QUERIES


def test_a_query_without_a_document_of_the_top_grade_is_none(config):
    judgments = [line for line in FILES["judgments"] if line != "q3\td3\t2"]
    assert sum(size_of_collection(config(judgments=judgments)).lists.values()) == QUERIES - 1


def test_judged_queries_that_are_not_there_are_none_and_the_first_of_the_file_are_taken(config):
    queries = [*FILES["queries"][::-1][:12], FILES["queries"][-1]]  # the last twelve, one of them twice
    assert sum(size_of_collection(config(queries=queries)).lists.values()) == 12
    first = size_of_collection(config("data.max_queries=10", queries=queries)).lists
    assert first == {split: sum(split_of(f"q{q}") == split for q in range(30, 40)) for split in SPLITS}


def test_candidates_are_the_lists_and_training_keeps_what_is_relevant_to_a_train_query(config):
    candidates = [
        *["q0\td0\t2\ttrain", "q0\td1\t0\ttrain", "q0\td2\t0\ttrain", "q0\td9\t0\ttrain"],
        *["q1\td1\t2\ttrain", "q1\td2\t1\ttrain", "q1\td9\t0\ttrain"],
        *["q2\td9\t2\teval", "q2\td1\t0\teval"],
        *["q3\td3\t2\ttest"],
    ]
    size = size_of_collection(config(candidates=candidates))
    assert size.lists == {"train": 2, "eval": 1, "test": 1}
    assert size.pairs == {"train": 7, "eval": 2, "test": 1}
    assert size.judged_pairs == 5  # d9 is relevant to a query of the eval split alone


def test_of_drawn_documents_training_keeps_their_share_of_relevant_ones(config):
    size = size_of_collection(config(f"data.negatives={NEGATIVES}"))
    train = [q for q in range(QUERIES) if split_of(f"q{q}") == "train"]
    relevant = {q + document for q in train for document in range(3)}
    drawn = (1 + NEGATIVES) * len(train)
    assert size.judged_pairs == 3 * len(train) + round(len(relevant) / 60 * drawn)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=60), st.integers(1, 8))
def test_the_sample_of_texts_is_even(tmp_path_factory, lengths, sample):
    folder = tmp_path_factory.mktemp("texts")
    (folder / "documents").write_text("".join(f"id\ttitle\t{'word ' * length}\n" for length in lengths))
    data = {role: str(folder / role) for role in FILES} | {"query_language": "en", "document_language": "fr"}
    config = RunConfig.model_validate({"data": data, "output": str(folder / "out")})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(even_sample, "SAMPLE", sample)
        texts = estimate._text_size(config, "documents")
    assert texts.number == len(lengths)
    step = next(step for step in (2**power for power in range(9)) if -(-len(lengths) // step) < 2 * sample)
    sampled = lengths[::step]
    assert texts.words == pytest.approx(sum(sampled) / len(sampled))


def test_a_split_without_a_query_is_an_error(config):
    with pytest.raises(DataError, match="eval"):
        size_of_collection(config(candidates=["q0\td0\t2\ttrain", "q1\td1\t2\ttest"]))


def test_a_file_that_ends_early_or_went_is_an_error(config, tmp_path):
    loaded = config()
    documents = tmp_path / "documents"
    documents.write_bytes(documents.read_bytes()[:-9])
    with pytest.raises(DataError, match=rf"^{documents}:\d+: "):
        size_of_collection(loaded)
    (tmp_path / "queries").unlink()
    with pytest.raises(DataError, match=f"^{tmp_path}/queries "):
        size_of_collection(loaded)


def test_dumps_are_no_files_yet():
    with pytest.raises(DataError, match="clir wikipedia"):
        size_of_collection(load_config("configs/sample_dumps.yaml"))


def test_steps_memory_and_disk_follow_from_the_size(config):
    loaded = config("preset=paper", f"data.negatives={NEGATIVES}", "training.epochs=3", "training.batch_lists=4")
    made, size = estimate_run(loaded), size_of_collection(loaded)
    (training,) = made.trainings.values()
    assert training.steps == 3 * (size.lists["train"] // 4)
    assert training.pairs == size.pairs["train"]
    assert training.weights == sum(size.vocabularies) * loaded.channels.towers.embedding_dim
    listed_bytes = size.document_bytes / size.documents * sum(size.pairs.values())
    assert made.memory_bytes["parameters and optimizer"] == 4 * 3 * training.weights
    assert made.memory_bytes["examples"] == 3 * round(listed_bytes)
    assert made.disk_bytes == {
        "collection": size.document_bytes,
        "examples": round(listed_bytes),
        "models": 4 * 6 * training.weights,
    }


def test_an_encoder_and_an_index_take_disk_and_the_papers_system_a_training_of_its_own(config, monkeypatch):
    monkeypatch.setattr(estimate, "load_encoder", lambda _: CountingEncoder())
    loaded = config("search.index=true", "evaluation.baselines=[paper]", "training.epochs=3", "channels.lexicon=null")
    made = estimate_run(with_channel(loaded, "encoder", ENDPOINT))
    assert [*made.trainings] == ["the model", "the paper's system"]
    assert made.disk_bytes["vectors"] == 2 * 2 * DIM * (60 + QUERIES)
    vectors = 4 * 60 * (loaded.channels.towers.embedding_dim + DIM)
    assert made.disk_bytes["index"] == made.collection.document_bytes + vectors
    without = estimate_run(with_channel(loaded, "encoder", None))
    assert "vectors" not in without.disk_bytes and without.disk_bytes["index"] < made.disk_bytes["index"]


def test_a_person_gets_counts_trainings_sums_and_the_notes(config):
    made = estimate_run(config("training.patience=2", "evaluation.baselines=[tfidf]", "data.max_document_tokens=4"))
    documents, queries, training, memory, disk, time, *notes = made.describe()
    assert documents == "documents: 60, of 4 words"
    assert queries.startswith(f"queries: {QUERIES} (")
    assert f": {made.trainings['the model'].steps} steps in " in training
    assert memory.startswith("memory: at least ") and disk.startswith("disk: about ")
    assert time.startswith("time: ")
    for word, note in zip(["documents", "queries", "tfidf", "training.patience"], notes, strict=True):
        assert note.startswith("note: ") and word in note


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        (["channels.lexicon.weight=held_out"], "without each domain"),
        (["adversary.weight=0.1"], "adversary"),
        (["tuning.search=grid", "tuning.epsilon=[1, 2]"], "tuning"),
    ],
)
def test_work_that_comes_on_top_is_a_note(config, tmp_path, settings, shown):
    domains = tmp_path / "domains.tsv"
    domains.write_text("q1\tarts\nq2\tnews\n")
    (note,) = estimate_run(config(f"data.domains={domains}", "data.query_words=3", *settings)).notes
    assert shown in note


def test_a_machine_that_is_too_small_is_a_note(config, monkeypatch):
    monkeypatch.setattr(estimate, "memory_size", lambda: 10**6)
    (note,) = estimate_run(config()).notes
    assert "memory" in note


@pytest.mark.parametrize(
    ("settings", "got"),
    [
        (["training.workers=2"], "2 and in_process"),
        (["beam.runner=portable", "beam.endpoint=h:1", "beam.environment=loopback"], "1 and portable"),
    ],
)
def test_a_run_of_several_processes_is_refused(config, settings, got):
    with pytest.raises(DataError, match=f"training.workers .* got {got}"):
        estimate_run(config(*settings))


def test_a_file_without_a_text_is_an_error(config, tmp_path):
    loaded = config()
    (tmp_path / "documents").write_text("no record\n")
    with pytest.raises(DataError, match="data.documents must hold a text"):
        size_of_collection(loaded)
