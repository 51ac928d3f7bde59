"""Passages: windows of words that together hold the whole text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from models.texts.passages import passages_of, split_passages
from models.texts.tokens import tokenize
from schemas.passages import PassageSettings, document_of, is_first_passage, passage_id, passage_number
from schemas.wikiclir import Text

pytestmark = [pytest.mark.tensors, pytest.mark.usefixtures("without_graphs")]

WORDS = st.lists(st.sampled_from(["Été", "l'eau", "2020", "naïve,", "(wolf)", "…"]), max_size=30)
LENGTHS = st.tuples(st.integers(1, 7), st.integers(0, 6)).filter(lambda lengths: lengths[1] < lengths[0])


def words_of(text: str) -> list[bytes]:
    return tokenize([text])[0].numpy().tolist()


@given(WORDS, LENGTHS)
def test_passages_are_overlapping_windows_of_the_words(pieces, lengths) -> None:
    words, overlap = lengths
    text = " ".join(pieces)
    passages = split_passages(text, PassageSettings(words=words, overlap=overlap))
    whole, step = words_of(text), words - overlap
    starts = [0, *range(step, len(whole) - overlap, step)]
    assert [words_of(passage) for passage in passages] == [whole[start : start + words] for start in starts]


@given(st.lists(st.sampled_from(["Été", "l'eau", "…", "½"]), max_size=12), st.integers(1, 3))
def test_without_an_overlap_the_passages_are_the_text(pieces, words) -> None:
    # The second word of ½ has no offset in the text.
    text = " ".join(pieces)
    passages = split_passages(text, PassageSettings(words=words))
    assert "".join("".join(passages).split()) == "".join(pieces)
    assert all(passages) or not text


def test_short_words_of_scripts_without_spaces_count_for_less() -> None:
    chinese = split_passages("北京是中华人民共和国的首都", PassageSettings(words=3))
    assert "".join(chinese) == "北京是中华人民共和国的首都"
    assert {len(passage) for passage in chinese[:-1]} == {6}


def test_segmented_texts_are_split_at_white_space_alone() -> None:
    assert split_passages("北京 是 首都", PassageSettings(words=2), segmented=True) == ["北京 是", "首都"]


def test_a_passage_knows_its_document() -> None:
    first, second = passages_of(Text("d1", "Title", "one two three", 7), PassageSettings(words=2), False)
    assert (first.title, first.line, second.text) == ("Title", 7, "three")
    assert [document_of(part.id) for part in (first, second)] == ["d1", "d1"]
    assert [passage_number(part.id) for part in (first, second)] == [0, 1]
    assert [is_first_passage(part.id) for part in (first, second)] == [True, False]
    assert document_of("d1") == "d1" and passage_number("d1") is None and is_first_passage("d1")


def test_no_id_of_a_user_is_that_of_a_passage() -> None:
    from schemas.forms import is_id

    assert is_id("d1") and not is_id(passage_id("d1", 0))


@pytest.mark.parametrize("overlap", [3, 4, -1])
def test_an_overlap_is_shorter_than_a_passage(overlap) -> None:
    with pytest.raises(ValidationError, match="overlap"):
        PassageSettings(words=3, overlap=overlap)
