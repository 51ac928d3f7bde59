"""wikipedia/wikitext/sentences.py: where sentences end, and where they only seem to."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smooth_clir.wikipedia.wikitext.sentences import split_sentences

# The sentences of a text, parted by `|` here.
TEXTS = {
    "en": [
        "Washington, D.C. is a city. |It was founded in 1790.",
        "Mr. J. R. R. Tolkien wrote 3.5 books. |He lived in St. Ives (b. 1892). |See e.g. this.",
        'He said "Stop!" and left. |"Why?" she asked. |No. 5 is good.',
        "Yahoo! is a company. |It is owned by Apollo Inc. and others.",
        "John Smith Jr. (born Jan. 5, 1950) is an actor.",
        "It is 5 m. |It is 3.2 km wide.",
        "The version is 2.0.1. |It runs on .NET.",
        "It is a phone. iPhones are phones.",
    ],
    "fr": [
        "M. Dupont est né vers 50 av. J.-C. à Paris. |Il vit au XIXe siècle.",
        "C'est un « bon ! » livre. |Il est né le 1er janv. 2000, cf. p. 5. |Fin.",
        "Qu'est-ce ? |C'est l'art. |Il dit : « Non. » |Elle part.",
    ],
    "de": [
        "Er wurde am 3. Oktober 1950 in St. Gallen geboren. |Er ist z. B. Arzt, d. h. Dr. med. Müller.",
        "Ludwig XIV. war König. |Die 2. Bundesliga ist gut. |Im 19. Jahrhundert lebte er.",
        "Die Stadt hat ca. 5.000 Einwohner (Stand: 31. Dez. 2020). |Sie liegt u. a. am Rhein.",
        "Er starb im Jahr 19. |Sie lebte.",
    ],
    "ru": [
        "А. С. Пушкин родился в 1799 г. в Москве. |Он жил там.",
        "Город в 5 км от г. Киева, ул. Ленина, д. 5. |Река (лат. Volga) течёт на юг.",
        "Он сказал: «Да!» и ушёл. |Кто он? |Никто.",
    ],
    "ar": ["القاهرة هي عاصمة مصر. |هل هذا صحيح؟ |نعم، هذا صحيح.", "ولد في عام 5 ق.م. في روما. |مات هناك."],
    "ja": [
        "東京は日本の首都である。|人口は1400万人。",
        "「それは本当か。」と彼は言った。|すごい！|本当である。",
        "モーニング娘。は日本のグループ。|モーニング娘。の歌。",
        "はじめに森がある。|のちに川がある。",
    ],
    "sw": ["Nairobi ni mji. |Dk. Julius K. Nyerere alizaliwa mwaka wa 1922. |Ina wakazi 4.3 milioni."],
    "tl": ["Si G. Jose P. Rizal ay ipinanganak noong Hun. 19, 1861. |Ang Sto. Tomas ay bayan."],
    "hi": [
        "भारत एक देश है। |इसकी राजधानी दिल्ली है।",
        "डॉ. शर्मा यहाँ रहते हैं। |वे प्रो. वर्मा और श्री. गुप्ता से ई. पू. ५०० में मिले। |ठीक।",
    ],
    "my": [
        "ရန်ကုန်မြို့သည် မြန်မာနိုင်ငံ၏ အကြီးဆုံးမြို့ ဖြစ်သည်။ |၎င်းသည် ဆိပ်ကမ်းမြို့ ဖြစ်သည်။",
        "သူ၏အိမ်သည် ကြီး၏။ |ဆရာ၏ သားသည် ဆရာဖြစ်၏",
    ],
    "km": [
        "ភ្នំពេញជារាជធានី។ |ទីក្រុងនេះធំ។",
        "ផ្លែស្វាយ ចេក ។ល។ មានលក់៕ |គាត់ទៅណា? |ល្អ។",
    ],
    "bo": ["ལྷ་ས་ནི་རྒྱལ་ས་ཡིན།  |གྲོང་ཁྱེར་ཆེན་པོ་རེད།", "བོད་ཡིན།། |ས་གནས་ཡིན༎ |རེད།"],
    "dz": ["འབྲུག་ཡུལ་འདི་རྒྱལ་ཁབ་ཨིན། |ཐིམ་ཕུག་འདི་རྒྱལ་ས་ཨིན།"],
    "bn": ["ড. মুহাম্মদ ইউনূস একজন লেখক। |মো. আলী খ্রি. পূ. ৫০০ সালে জন্মান।"],
    "ne": ["डा. शर्मा यहाँ छन्। |उनी लेखक हुन्।"],
    "am": ["ዶ/ር. አበበ ጸሐፊ ናቸው። |ፕ/ሮ. ከበደ ናቸው።"],
    "ta": ["மு. கருணாநிதி திரு. வி. க. வீட்டில் பிறந்தார். |அவர் எழுத்தாளர்."],
    "te": ["డా. రావు రచయిత. |అతను నాయకుడు."],
    "ka": [
        "ქალაქი ძვ. წ. V საუკუნეში დაარსდა. |იგი დიდია.",
        "ივ. ჯავახიშვილი ახ. წ. 1876 წელს ქ. თბილისში დაიბადა. |ის იყო.",
    ],
    "vi": [
        "GS. Nguyễn Văn A sinh năm 1950. |Ông là nhà văn.",
        "PGS. TS. Trần B sống ở TP. Hồ Chí Minh. |Hết rồi.",
    ],
    "uk": ["Св. Миколай народився у м. Патара бл. 270 р. до н. е. у Лікії. |Він жив на вул. Зеленій."],
    "bg": ["Гр. София е в обл. Софийска. |Столица на България е."],
    "sr": ["Др. Јован Цвијић рођен је у гр. Лозница. |Био је географ.", "Otok je Krk. |Velik je."],
    "hu": ["A Szt. István utca Kr. e. 500 óta áll. |Kb. 5 km hosszú."],
    "cs": ["Ostrov se jmenuje Krk. |Je velký. |Stojí tam vlk. |Je starý."],
    "ro": ["Sf. Gheorghe este în jud. Cluj. |Este nr. 1. |Are 12. |Este bun."],
    "id": ["Dr. Ir. Soekarno lahir di Jl. Pandean. |Ia presiden."],
    "tr": ["Yd. Doç. Dr. Ahmet M.Ö. 50 yılında doğdu. |Şehir NATO ve TBMM. |Büyük."],
    "he": ["ד״ר. כהן נולד בשנת 1950. |הוא גר שם."],
    "nl": ["Het is 5 km. |Het is groot. |Dhr. Jansen en mr. Smit."],
    "el": ["Ο Αγ. Γεώργιος είναι ο κ. Παπαδόπουλος. |Είναι καλός."],
    "mn": ["Проф. Дорж төрсөн. |Тэр эмч."],
    "zh": ["北京是首都。|它很大！"],
    "th": ["กรุงเทพมหานคร เป็นเมืองหลวง"],
    "br": ["Ur gêr eo Brest. |Bras eo."],
}


@pytest.mark.parametrize(("language", "text"), [(language, text) for language in TEXTS for text in TEXTS[language]])
def test_sentences_end_where_a_reader_ends_them(language: str, text: str) -> None:
    assert split_sentences(text.replace("|", ""), language) == [sentence.strip() for sentence in text.split("|")]


@pytest.mark.parametrize("unit", ["a. ", "A. B ", "(a. ", '"', "«", "... ", "! ", "漢。", "「", "1 m. A"])
def test_a_lead_of_the_longest_kind_takes_no_second(unit: str) -> None:
    started = time.process_time()
    split_sentences(unit * (20_000 // len(unit)), "en")
    assert time.process_time() - started < 1


@given(
    st.lists(st.sampled_from([*"aA1.!?。؟ (「」)\"'-«»é東"]) | st.text("aA. ", max_size=4)).map("".join),
    st.sampled_from([*TEXTS]),
)
def test_no_sign_is_lost(text: str, language: str) -> None:
    sentences = split_sentences(text, language)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in sentences)
