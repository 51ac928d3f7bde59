"""Stems: what each writing system keeps, against the rules written out in plain Python."""

import re
import unicodedata
from itertools import groupby

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.texts.stems import stems
from models.texts.tokens import tokenize

pytestmark = [pytest.mark.tensors, pytest.mark.usefixtures("without_graphs")]

EXPECTED = {
    "Russian": ("ru", "Чайковский Хрущёв объявил", "caico crush obiav"),
    "Russian, as English has it": ("en", "Chaikovsky Khrushchev", "caico crush"),
    "Ukrainian": ("uk", "Київ Їжак Європа Ґанок Шевченко", "kiiv izhak evrop ganok shevc"),
    "Serbian Cyrillic": ("sr", "Ђоковић Љубљана Њујорк Ћирић Џон", "docov ljubl njujo ciric dzon"),
    "Serbian Latin": ("sr", "Đoković Ćirić", "docov ciric"),
    "Turkish": ("tr", "İstanbul ISPARTA ışık Çağlar", "istan ispar isik cagla"),
    "Polish": ("pl", "Łódź Wałęsa żółw", "lodz wale zolw"),
    "Danish and French": ("da", "Ærø Østergård œuvre cœur naïveté", "aero oster oeuvr coeur naive"),
    "Vietnamese": ("vi", "người Nguyễn đường", "người nguyễ dường"),
    "Vietnamese in another language's text": ("fr", "Nguyễn", "nguie"),
    "spellings": (
        "en",
        "musical Musikant system sistema philosophy filosofía different diferente theory teoría acquire sapphire",
        "music music siste siste filo filo difer difer teori teori acire safir",
    ),
    "spellings of short words": ("en", "music Musik the book kings", "music musik the book king"),
    "spellings of Vietnamese": ("vi", "thanh khách phòng", "thanh khách phòng"),
    "English and French plurals": ("en", "bee bees stars class is étés", "bee bee star cla is ete"),
    "Arabic": ("ar", "كتاب الكتاب والكتاب بالكتاب كتابها المكتبات", "كتاب كتاب كتاب كتاب كتاب مكتب"),
    "Arabic short words": ("ar", "الله للناس وزير والي", "الل ناس وزير وال"),
    "Arabic in another language's text": ("fa", "الكتاب", "الكتا"),
    "Arabic with harakat": ("ar", "كِتَابٌ المَكْتَبات", "كتاب مكتب"),
    "Arabic with hamza": ("ar", "أحمد إلى آل ٱلله سؤال قائد", "احمد الي ال الل سؤال قائد"),
    "Arabic with hamza and harakat": ("ar", "أَحْمَد ا\u0654حمد", "احمد احمد"),
    "Arabic with tatweel": ("ar", "محـــمد ـ", "محمد"),
    "Arabic with teh marbuta and alef maksura": ("ar", "مدرسة مدرسه على علي", "مدرس مدرس علي علي"),
    "Persian": ("fa", "کتاب علی می\u200cخواهم خانهٔ خانۀ", "كتاب علي ميخوا خانه خانه"),
    "Urdu": ("ur", "ہے ہۓ", "هي هئ"),
    "Hebrew": ("he", "שלום ירושלים", "שלום ירושל"),
    "Hebrew with points": ("he", "שָׁלוֹם יְרוּשָׁלַיִם", "שלום ירושל"),
    "Hindi": ("hi", "हिन्दी में विश्वविद्यालय", "hindi men vishv"),
    "Hindi letters": ("hi", "झांसी छत्तीसगढ़ ऐतिहासिक औषधि उड़ान घट थैला ईख", "jhan cati aitih ausha uran ghat taila ikh"),
    "Hindi names": ("hi", "दिल्ली गंगा अमेरिका ज़ाम्बिया फ़्रांस कृष्ण राम", "dilli ganga ameri jambi fran crish ram"),
    "names, as English has them": (
        "en",
        "Delhi Ganga America Krishna Ram Uganda",
        "delhi ganga ameri crish ram ugand",
    ),
    "Tamil": ("ta", "தமிழ்நாடு", "தமிழ்"),
    "Korean": ("ko", "대한민국 서울 강", "대한 서울 강"),
    "Thai, whose words NFKC takes apart": ("th", "น้ำ", "น้ํา"),
    "Japanese": ("ja", "東京タワー ガンバる", "東 京 タワー ガン ンバ バる"),
    "Greek": ("el", "Αθήνα Μακεδονία Ουγκάντα Μπρους", "atina maced ougan brou"),
    "numbers": ("en", "1234567 in 2020", "1234567 in 2020"),
    "Vietnamese beside another language": ("de+vi", "Nguyễn không", "nguyễ khong"),
    "French and Vietnamese": ("fr+vi", "Nguyễn đường thành systèmes", "nguyễ dường thanh siste"),
    "Arabic, Russian and Serbian": ("ar+ru+sr", "الكتاب Чайковский", "كتاب caico"),
    "digits of other scripts": ("hi", "١٧٨٩ ۱۷۸۹ १७८९ １７８９ ๑๗๘๙ 𑁧𑁭𑁮𑁯 1१", "1789 1789 1789 1789 1789 1789 11"),
}


def stems_of(text: str, language: str) -> list[str]:
    return [stem.decode() for stem in stems(tokenize(tf.constant([text])), language)[0].numpy()]


@pytest.mark.parametrize("name", EXPECTED)
def test_each_writing_system_keeps_what_distinguishes_its_words_and_a_stem_is_its_own(name):
    language, text, expected = EXPECTED[name]
    stems = stems_of(text, language)
    assert stems == [unicodedata.normalize("NFC", stem) for stem in expected.split()]
    assert stems_of(" ".join(stems), language) == stems


LETTERS = dict(
    zip("абвгдезиклмнопрстуфыэіє", "abvgdeziklmnoprstufyeie", strict=True),
    ж="zh", х="kh", ц="ts", ч="ch", ш="sh", щ="shch", ъ="", ь="", ю="yu", я="ya", ґ="g", ђ="d", ј="j", љ="lj",
    њ="nj", ћ="c", џ="dz", ѕ="dz", ı="i", ł="l", ø="o", đ="d", æ="ae", œ="oe",
    þ="th", ð="d", ħ="h", ŋ="n", ŧ="t", ĸ="q", װ="וו", ױ="וי", ײ="יי",
    **dict(zip("ٱةىیےکہ", "اهييي" "كه", strict=True)),
)  # fmt: skip

GREEK = [
    *("ου ou, μπ b, ντ nt, γκ g, γγ ng, αυ au, ευ eu, τσ ts, τζ j".split(", ")),
    *(f"{letter} {latin}" for letter, latin in zip("αβγδεζηικλμνξοπρστυφω", "avgdeziiklmnxoprstyfo", strict=True)),
    *("θ th", "χ ch", "ψ ps"),
]
"""Greek letters and the Latin ones that replace them, in this order."""


def respelled(word: str) -> str:
    """A word in plain Latin letters, sound by sound; of the same consonants in a row one is left."""
    sounds = re.findall("(?:qu|[ckq])h*|p+h+|t[th]*|.", word)
    letters = ["f" if "ph" in sound else {"q": "c", "k": "c", "y": "i"}.get(sound[0], sound[0]) for sound in sounds]
    runs = ((letter, len([*run])) for letter, run in groupby(letters))
    return "".join(letter if letter in "bcdfghijlmnprstvwxz" else letter * number for letter, number in runs)


def reference(word: str, language: str) -> str:
    """A word's stem, by the rules in plain Python: Latin, Cyrillic, Greek, Hebrew, Arabic, Hangul, Han and kana."""
    dropped = "" if language == "vi" else "\u0300-\u036f"
    points = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670"
    word = re.sub(f"[{dropped}{points}]", "", unicodedata.normalize("NFKD", word))
    word = re.sub("\u0627[\u0653-\u0655]+", "\u0627", word)
    word = re.sub("[\u0647\u06c1\u06d5][\u0653-\u0655]+", "\u0647", word)
    word = re.sub("ц(?=[еиіє]|$)", "c", word)
    word = "".join(LETTERS.get(letter, letter) for letter in word)
    for pair in GREEK:
        word = word.replace(*pair.split())
    word = re.sub("(?<=[a-z\xdf-\u017f]{3})s+$", "", word)
    if language != "vi" and len(word) > 5:
        word = respelled(word)
    word = unicodedata.normalize("NFC", word)
    word = "".join(str(unicodedata.decimal(digit, digit)) for digit in word)
    if re.match("[\u3040-\u30ff\u4e00-\u9fff]", word) or word.isnumeric():
        return word
    endings = "(?<=[\u0620-\u06d5]{3})(ات|ون|ين|ها|ان|ه|ي)+$"
    if language == "ar":
        word = re.sub("^([وف]?[بك]?ال|و?لل)+(?=[\u0620-\u06d5]{3})", "", word)
        word = re.sub(endings, "", word)
    word = word[: 2 if re.match("[\uac00-\ud7a3]", word) else 5]
    if language == "ar":
        word = re.sub(endings, "", word)
    return re.sub("(?<=[a-z\xdf-\u017f]{3})s+$", "", word)


RANGES = [(0x61, 0x7A), (0x61, 0x17F), (0x370, 0x3FF), (0x400, 0x45F), (0x5D0, 0x5F2), (0x620, 0x6D5), (0xAC00, 0xD7A3)]
WORDS = st.one_of(
    *(
        st.text(st.characters(whitelist_categories=("Ll", "Lo"), min_codepoint=low, max_codepoint=high), min_size=1)
        for low, high in RANGES
    ),
    st.text("0123456789", min_size=1) | st.text("٠٣٩۰۴۹०९", min_size=1),
    st.sampled_from("東京語ガるワ"),
)  # fmt: skip


@given(st.lists(st.lists(WORDS, max_size=4), min_size=1, max_size=3), st.sampled_from(["en", "vi", "ar"]))
def test_stems_are_those_of_the_rules_whatever_stands_beside_them(texts, language):
    words = tokenize(tf.constant([" ".join(text) for text in texts]))
    expected = [[reference(word.decode(), language) for word in text] for text in words.to_list()]
    decoded = [[stem.decode() for stem in text] for text in stems(words, language).to_list()]
    assert decoded == [[stem for stem in text if stem] for text in expected]


def test_every_decimal_digit_is_its_value():
    digits = [character for character in map(chr, range(0x110000)) if unicodedata.decimal(character, None) is not None]
    assert stems_of(" ".join(digits), "en") == [str(unicodedata.decimal(digit)) for digit in digits]


def test_a_word_of_marks_alone_and_a_text_without_a_word_have_no_stem():
    words = tf.ragged.constant([["a", "\u0301", "b"], [], ["\u0301"]])
    assert stems(words, "fr").to_list() == [[b"a", b"b"], [], []]
    assert stems(tokenize(tf.constant([], tf.string)), "fr").to_list() == []
