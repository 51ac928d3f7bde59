"""components/translation_gen/translate_sentences.py: each distinct sentence is translated once, whatever ends a run."""

import logging
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.translation_gen import translate_sentences as subject
from components.translation_gen.translate_sentences import Sentences, translate_sentences
from models.piece_store import PieceStore
from schemas.errors import DataError
from tests.components.collected import collect
from tests.models.translators.small_translator import COUNTING, CountingTranslator

pytestmark = pytest.mark.tensors

PIECE = 3
SHARDS = (
    ["Le loup dort. Le chat court.", "Le cerf boit. Le loup dort.", "Le chien."],
    ["Le lapin saute. Le chat court. Une truite nage.", "Le hibou vole."],
)
"""The documents of each shard; some sentences come again, in a shard or in both."""
SENTENCES = [
    *("Le loup dort.", "Le chat court.", "Le cerf boit.", "Le chien."),
    *("Le lapin saute.", "Une truite nage.", "Le hibou vole."),
]
PAIRS = [(sentence.upper(), sentence) for sentence in SENTENCES]
LANGUAGES = ("en", "fr")


@pytest.fixture
def translator(monkeypatch):
    """The translator that each run makes, with pieces of three texts."""
    counting = CountingTranslator()
    subject._translator.cache_clear()
    monkeypatch.setattr(subject, "load_translator", lambda *_: counting)
    monkeypatch.setattr(subject, "TEXTS_OF_A_PIECE", PIECE)
    yield counting
    subject._translator.cache_clear()


def sentences_of(folder, shards):
    lines = [
        "".join(f"d{100 * index + row:03}\tA title\t{text}\n" for row, text in enumerate(shard)).encode() + b"no tabs\n"
        for index, shard in enumerate(shards)
    ]
    collect(folder / "artifact", {"documents": lines})
    return Sentences(str(folder / "artifact"), "fr")


@pytest.fixture
def run(tmp_path, translator):
    """Translates the documents of shards with a store; returns the pairs."""

    def run(shards=SHARDS, store="store", apply=map):
        sentences = sentences_of(tmp_path / "collection", shards)
        return [*translate_sentences(COUNTING, LANGUAGES, sentences, PieceStore(str(tmp_path / store)), apply)]

    return run


# Each sentence once


def test_each_distinct_sentence_comes_with_its_translation_in_the_order_of_the_collection(run, translator, caplog):
    caplog.set_level(logging.INFO)
    assert run() == PAIRS
    assert translator.seen == dict.fromkeys(SENTENCES, 1)
    assert translator.calls == 3  # four sentences of the first shard, three new ones of the second
    assert [line for line in caplog.messages if line.startswith("7 of 7 sentences, ")]


@settings(max_examples=10)
@given(
    st.lists(st.lists(st.lists(st.sampled_from("ABCDEFG"), min_size=1, max_size=4), min_size=1), min_size=1, max_size=3)
)
def test_every_sentence_of_any_collection_is_translated_once(tmp_path_factory, shards):
    counting, folder = CountingTranslator(), tmp_path_factory.mktemp("any")
    documents = [[" ".join(f"Voici {letter}nimal." for letter in document) for document in shard] for shard in shards]
    sentences = sentences_of(folder / "collection", documents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subject, "_translator", lambda *_: counting)
        patch.setattr(subject, "TEXTS_OF_A_PIECE", PIECE)
        pairs = [*translate_sentences(COUNTING, LANGUAGES, sentences, PieceStore(str(folder / "store")))]
    expected = dict.fromkeys(f"Voici {letter}nimal." for shard in shards for document in shard for letter in document)
    assert pairs == [(sentence.upper(), sentence) for sentence in expected]
    assert counting.seen == dict.fromkeys(expected, 1)


def test_a_later_run_translates_added_sentences_alone_and_leaves_out_those_that_are_gone(run, translator):
    assert run() == run() == PAIRS
    assert run(([*SHARDS[0], "Une biche. Le loup dort."],)) == [*PAIRS[:4], ("UNE BICHE.", "Une biche.")]
    assert translator.seen == dict.fromkeys([*SENTENCES, "Une biche."], 1)


def test_a_sentence_without_a_translation_is_left_out_and_not_translated_again(run, translator):
    for _ in range(2):
        assert run((["nothing", "Le loup."],)) == [("LE LOUP.", "Le loup.")]
    assert translator.seen["nothing"] == 1


@pytest.mark.stages
def test_workers_translate_the_same(run, translator, tmp_path):
    import apache_beam as beam

    from components.on_workers import OnWorkers

    on_workers = OnWorkers(partial(beam.Pipeline, argv=[]), str(tmp_path / "work"))
    assert run(apply=on_workers) == PAIRS
    assert translator.seen == dict.fromkeys(SENTENCES, 1)


# What ends a run


@pytest.mark.parametrize("call", [1, 2, 3])
def test_a_killed_run_goes_on_where_it_ended_with_the_same_pieces(run, translator, call, tmp_path):
    run(store="whole")
    translator.seen.clear()
    translator.calls, translator.fails_at = 0, call
    with pytest.raises(KeyboardInterrupt):
        run()
    translator.fails_at = None
    assert run() == PAIRS
    assert translator.seen == dict.fromkeys(SENTENCES, 1)
    names = [sorted(path.name for path in Path(tmp_path / store).iterdir()) for store in ("store", "whole")]
    assert names[0] == names[1]


def test_a_piece_during_which_the_translator_changes_is_not_stored(run, translator, tmp_path):
    translator.changes_at = 5
    with pytest.raises(DataError, match="has changed"):
        run()
    translator.changes_at = None
    assert run() == PAIRS
    assert {text: count for text, count in translator.seen.items() if count > 1} == {
        "Le lapin saute.": 2
    } | dict.fromkeys(["Une truite nage.", "Le hibou vole."], 2)
