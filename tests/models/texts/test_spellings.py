"""Spellings of one word in each script: one stem for all of them, and two stems for words that differ."""

import unicodedata
from itertools import permutations

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.texts.stems import stems
from models.texts.token_offsets import tokenize_with_offsets
from models.texts.tokens import tokenize
from schemas.word_rules import WordRules

pytestmark = [pytest.mark.tensors, pytest.mark.usefixtures("without_graphs")]

EQUAL_WORDS = {
    "Armenian marks within words": ("hy", "ինչու=ինչո՞ւ այո=այո՛ տուն=տո՜ւն ով=ո՞վ ահա=ահա՛ Երևան=Երևա՞ն"),
    "Thai: two signs for one": ("th", "แม่=เเม่ แล้ว=เเล้ว"),
    "Thai: the order of marks": ("th", "น้ำ=นํ้า น้ำ=นำ้ ที่=ท่ี ครั้ง=คร้ัง พันธุ์=พันธ์ุ"),
    "Lao": ("lo", "ນ້ຳ=ນໍ້າ ນ້ຳ=ນຳ້ ແມ່=ເເມ່ ຂໍ້=ຂ້ໍ ທີ່=ທ່ີ"),
    "Khmer": ("km", "ស្ត្រី=ស្រ្តី កណ្ដាល=កណ្តាល ស៊ី=សី៊ ចាំ=ចំា ជុំ=ជំុ កោះ=កេាះ កើត=កេីត"),
    "Burmese": ("my", "ကို=ကုိ မြို့=မြုိ့ ကြွ=ကွြ ကောင်း=ကာေင်း ကုံး=ကံုး"),
}  # fmt: skip
"""Spellings that no reader tells apart, or marks above a word: they are one word for `tokenize`, too."""

EQUAL_STEMS = {
    "Serbian in both scripts": (
        "sr",
        "школа=škola жена=žena хлеб=hleb центар=centar процес=proces реч=reč држава=država друштво=društvo "
        "џеп=džep љубав=ljubav њива=njiva ђак=đak ноћ=noć хиљада=hiljada цар=car отац=otac",
    ),
    "Bosnian in both scripts": ("bs", "кућа=kuća шума=šuma"),
    "Russian and English, loan words": ("ru", "процесс=process цивилизация=civilization концерт=concert"),
    "Ukrainian, Bulgarian and Macedonian": ("uk", "процес=process центр=centr процеси=proces"),
    "Kazakh, Tatar and Mongolian letters": ("kk", "қазақ=kazak өзен=ozen ұлы=uly үлкен=ulken"),
    "Vietnamese tones": ("vi", "hoà=hòa khoẻ=khỏe thuý=thúy loà=lòa Thuỷ=Thủy toàn=tòan hoạ=họa huỷ=hủy"),
    "Vietnamese Đ": ("vi", "Đà=Ðà đường=ðường"),
    "Icelandic and Faroese": ("is", "Garður=Gardur Þór=Thor það=thad"),
    "Hausa": ("ha", "ɗaya=daya ɓauna=bauna ƙasa=kasa ƴar=yar"),
    "Azerbaijani": ("az", "Azərbaycan=Azerbaycan əsas=esas"),
    "Maltese, Sami, Akan and Ewe": ("mt", "Għawdex=Ghawdex ħobż=hobz ŋuorra=nuorra ŧ=t ɛyɛ=eye ɔkra=okra ʋu=vu"),
    "Hindi: the dot below": ("hi", "काफ़ी=काफी डिज़ाइन=डिजाइन फ़ोन=फोन क़लम=कलम ख़बर=खबर ग़ज़ल=गजल ज़मीन=जमीन"),
    "Hindi: nasals": ("hi", "मुंबई=मुम्बई हिंदी=हिन्दी संबंध=सम्बन्ध अंक=अङ्क पंच=पञ्च ठंडा=ठण्डा संभव=सम्भव"),
    "Bengali": ("bn", "সংগীত=সঙ্গীত সংঘ=সঙ্ঘ বৎসর=বত্\u200dসর"),
    "Punjabi": ("pa", "ਪੰਜਾਬ=ਪਂਜਾਬ ਜ਼ਮੀਨ=ਜਮੀਨ ਫ਼ਿਲਮ=ਫਿਲਮ ਸਿੰਘ=ਸਿਂਘ"),
    "Gujarati, Odia, Telugu and Kannada": ("gu", "હિંદી=હિન્દી ମୁଂବଇ=ମୁମ୍ବଇ హిందీ=హిన్దీ ಹಿಂದಿ=ಹಿನ್ದಿ ಫ಼ೋನ್=ಫೋನ್"),
    "Malayalam": ("ml", "അവൻ=അവന്\u200d അവൾ=അവള്\u200d ഞാൻ=ഞാന്\u200d നീർ=നീര്\u200d പാൽ=പാല്\u200d എന്റെ=എൻറെ സംഘം=സങ്ഘം"),
    "Amharic homophones": ("am", "ሰላም=ሠላም ዓለም=አለም ሀገር=ሐገር ሀገር=ሃገር ጸሐይ=ፀሀይ ሆነ=ኾነ ኃይል=ሀይል ዐይን=አይን"),
    "Tigrinya": ("ti", "ዓድዋ=አድዋ ሠላም=ሰላም"),
    "Japanese: the last sign of length": ("ja", "サーバー=サーバ コンピューター=コンピュータ ユーザー=ユーザ"),
    "Japanese in half width": ("ja", "ｻｰﾊﾞｰ=サーバ"),
    "Yiddish": ("yi", "װאס=וואס הױז=הויז צװײ=צוויי"),
    **EQUAL_WORDS,
}  # fmt: skip

DIFFERENT = {
    "Serbian": ("sr", "кућа кула, реч реп"),
    "Russian keeps Tsvetaeva apart from sounds of k": ("ru", "царь карь, процесс прот, отец отёк, цвет квет"),
    "Russian and English names": ("en", "tsar car"),
    "Vietnamese": ("vi", "hoà hoá hoả hoã hoạ hoa, mua mùa múa, thuý thuỷ thùy, quy quý"),
    "Hausa vowels and plain letters": ("ha", "ɗaya gaya, ƙasa gasa"),
    "Hindi": ("hi", "बड़ा बाद, मुंबई मुबई, कम कन, पढ़ पर, सीता सीमा"),
    "Bengali letters with a dot are letters of their own": ("bn", "বাড়ি বাডি, ময় ময, চাঁদ চাদ"),
    "Punjabi": ("pa", "ਪੰਜ ਪਜ, ਕੰਮ ਕਮ"),
    "Malayalam: he, and to him": ("ml", "അവൻ അവന്"),
    "Tamil": ("ta", "மரம் மறம், கல் கள்"),
    "Amharic": ("am", "ሰላም ሸላም, ቀለም ከለም, ጸሐይ ጠሐይ"),
    "Tigrinya has a sound more than Amharic": ("ti", "ኾነ ሆነ"),
    "Japanese": ("ja", "ビル ビール, キー キ, タワー タワ, バター バタ, おばさん おばーさん"),
    "Yiddish and Hebrew": ("yi", "װאס ואס"),
    "Thai tones and vowels": ("th", "แม่ แม้ แม, เมา แมา, น้ำ นํา, กิน กีน"),
    "Lao": ("lo", "ແມ່ ເມ່, ນ້ຳ ນຳ"),
    "Khmer": ("km", "ដា តា, ស្រី ស្តី, ចាំ ចា"),
    "Burmese": ("my", "ကို ကု ကိ, မြို့ မြို, ကျ ကြ"),
    "Armenian": ("hy", "ինչու ինչ, տուն տան"),
    "scripts that no table joins": ("ka", "ქალი კალი, ხარი ჰარი"),
}  # fmt: skip


def words_of_each(texts, **rules):
    return [[word.decode() for word in words] for words in tokenize(tf.constant(texts), WordRules(**rules)).to_list()]


def words_of(text, **rules):
    return words_of_each([text], **rules)[0]


def stems_of_each(texts, language):
    return [[stem.decode() for stem in row] for row in stems(tokenize(tf.constant(texts)), language).to_list()]


def stems_of(text, language):
    return stems_of_each([text], language)[0]


def spellings(pairs):
    """The first and the second spelling of each pair."""
    return map(list, zip(*(pair.split("=") for pair in pairs.split()), strict=True))


@pytest.mark.parametrize("kind", EQUAL_STEMS)
def test_spellings_of_a_word_are_one_stem_which_is_its_own(kind):
    language, pairs = EQUAL_STEMS[kind]
    stems_of_first, stems_of_second = (stems_of_each(words, language) for words in spellings(pairs))
    assert stems_of_first == stems_of_second
    assert stems_of_each([*map(" ".join, stems_of_first)], language) == stems_of_first


@pytest.mark.parametrize("kind", EQUAL_WORDS)
@pytest.mark.parametrize("segmented", [False, True])
def test_spellings_that_look_alike_are_one_word_which_is_its_own(kind, segmented):
    first, second = (words_of_each(words, segmented=segmented) for words in spellings(EQUAL_WORDS[kind][1]))
    assert first == second
    assert words_of_each([*map(" ".join, first)], segmented=segmented) == first


@pytest.mark.parametrize("kind", DIFFERENT)
def test_words_that_differ_have_stems_that_differ(kind):
    language, groups = DIFFERENT[kind]
    for group in groups.split(","):
        words = group.split()
        assert len({*map(tuple, stems_of_each(words, language))}) == len(words), group


@pytest.mark.parametrize("kind", EQUAL_WORDS)
def test_every_spelling_stands_where_it_is_written(kind):
    for pair in EQUAL_WORDS[kind][1].split():
        for word in pair.split("="):
            text = f"ab {word} cd"
            located = tokenize_with_offsets(tf.constant(text))
            assert [token.decode() for token in located.tokens.numpy()] == words_of(text)
            start, end = located.start.numpy().tolist(), located.end.numpy().tolist()
            assert (start[0], end[0], start[-1], end[-1]) == (0, 2, len(text.encode()) - 2, len(text.encode())), word
            bounds = [*zip(start[1:-1], end[1:-1], strict=True)]
            assert bounds[0][0] == 3, word
            assert all(3 <= first < last <= 3 + len(word.encode()) for first, last in bounds if first >= 0), word


GAJ = dict(zip("абвгдђежзијклмнопрстћуфхцчш", "abvgdđežzijklmnoprstćufhcčš", strict=True), љ="lj", њ="nj", џ="dž")
"""The alphabet of Ljudevit Gaj."""


@given(st.text("абвгдђежзијклмнопрстћуфхцчшљњџ", min_size=1))
def test_a_serbian_word_has_one_stem_in_both_scripts(word):
    assert stems_of(word, "sr") == stems_of("".join(map(GAJ.get, word)), "sr")


MARKS = {"th": "กี่", "lo": "ກີ່", "my": "ကျြွှေိုံ့", "km": "ក៊ីំ"}


@given(st.sampled_from([*MARKS]), st.data())
def test_marks_are_one_character_in_any_order(language, data):
    letter, *marks = MARKS[language]
    shown = data.draw(st.lists(st.sampled_from(marks), unique=True, max_size=4))
    words = [words_of(letter + "".join(order)) for order in permutations(shown)]
    assert all(word == words[0] for word in words)
    assert all(unicodedata.is_normalized("NFC", word) for word in words[0])


BLOCKS = "0180-02af 0400-052f 0561-0587 05d0-05f4 0900-0d7f 1200-137f 1ea0-1ef9 30a0-30ff".split()
LETTERS = [
    [
        chr(code)
        for code in range(int(block[:4], 16), int(block[5:], 16) + 1)
        if unicodedata.category(chr(code))[0] in "LM"
    ]
    for block in BLOCKS
]


@given(
    st.sampled_from(LETTERS).flatmap(lambda letters: st.text(letters, min_size=1)),
    st.sampled_from(["sr", "vi", "am", "hi"]),
)
def test_a_stem_is_its_own_stem_in_every_script(text, language):
    stems = stems_of(text, language)
    assert stems_of(" ".join(stems), language) == stems


def test_every_latin_letter_of_a_language_is_plain_latin():
    # The letters of alphabets of the languages of ISO 639-1 that NFKD does not decompose.
    letters = "ıłøđæœðþħŋɓɗƙəǝɛɔŧƴƒʋɖɲɩɨʉɡɠĸ"
    assert all(stem.isascii() and stem for stem in stems_of(" ".join(letters), "en"))
