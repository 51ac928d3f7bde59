"""The form in which every pre-trained encoder sees texts: what nobody sees changes no vector."""

import unicodedata

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.encoders.pretrained_encoder import encoder_texts, is_cut
from models.encoders.settings import TEXT_FORM, EncoderSettings, SavedModelSettings, TextForm
from models.texts.tokens import tokenize
from schemas.word_characters import IGNORED, UNSEEN
from tests.models.encoders.small_encoder import ALIKE, ENDPOINT, HashedWords

pytestmark = pytest.mark.tensors

KEPT = [
    "Le volcan rejette de la lave.",
    "two\tfields\nand\r\nlines\x85 \u00a0\u2028",
    "NASA",
    "HIV AIDS",
    "I A B C 1 2",
    "THE mRNA VACCINE OF COVID",
    "WHO는 COVID 백신과 DNA 검사를",
    "été e\u0301te\u0301 नमस्ते שָׁלוֹם ภูเขาไฟ",
    "\ue000 \ufffd 🌋",
    "",
    " ",
]
"""Texts that an encoder sees as they are."""


def seen(*texts: str, settings: EncoderSettings = ENDPOINT, form: TextForm = TEXT_FORM) -> list[str]:
    return [text.decode() for text in encoder_texts(tf.constant(texts), "query", settings, form).numpy()]


@pytest.mark.parametrize("name", ALIKE)
def test_an_encoder_sees_no_difference_between_texts_that_look_alike(name: str) -> None:
    text, plain = ALIKE[name]
    assert seen(text) == [plain]


def test_other_texts_stay_as_they_are() -> None:
    assert seen(*KEPT) == KEPT


@pytest.mark.parametrize("text", ["\u00ad", "\u200b \ufeff", "ـــ", "\x01"])
def test_a_text_of_such_signs_alone_stays_for_encoders_refuse_an_empty_one(text: str) -> None:
    assert seen(text) == [text]


def characters(content: str) -> list[str]:
    """The characters of a class's content, its ranges by their ends and their middle."""
    shown, left = [], list(content)
    while left:
        first = left.pop(0)
        if left and left[0] == "-":
            last = left[1]
            del left[:2]
            shown += [first, chr((ord(first) + ord(last)) // 2), last]
        else:
            shown.append(first)
    return shown


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(characters(UNSEEN)))
def test_signs_that_nobody_sees_never_make_a_difference_and_twice_the_form_is_the_form(pieces, sign):
    plain, signed = seen("a" + "".join(pieces), "a" + sign.join(pieces) + sign)
    assert plain == signed
    assert seen(plain) == [plain]


@pytest.mark.parametrize("sign", characters(IGNORED), ids=lambda sign: f"U+{ord(sign):04X}")
def test_words_ignore_these_signs_too(sign: str) -> None:
    words = [word.decode() for word in tokenize(tf.constant([f"vol{sign}can lave{sign}"]))[0].numpy()]
    assert words == ["volcan", "lave"], unicodedata.name(sign, "")


def test_the_limit_counts_what_an_encoder_sees_and_comes_before_the_prefix() -> None:
    settings = ENDPOINT.model_copy(update={"max_characters": 6, "query_prefix": "query: "})
    texts = ("vol\u00adcan", "vol\u00adcans", "LES VOLCANS ICI", "été été")
    assert seen(*texts, settings=settings) == ["query: volcan", "query: volcan", "query: les vo", "query: été ét"]
    assert is_cut(tf.constant(texts), settings).numpy().tolist() == [False, True, True, True]


def test_an_encoder_in_a_graph_sees_the_form() -> None:
    texts, plain = zip(*ALIKE.values(), strict=True)
    encoder = HashedWords(SavedModelSettings(path="m"))
    assert encoder.encode(texts, "document").tolist() == encoder.encode(plain, "document").tolist()


def test_the_form_of_an_earlier_version_leaves_texts_as_they_are() -> None:
    texts = [text for text, _ in ALIKE.values()]
    assert seen(*texts, form=TextForm()) == texts
