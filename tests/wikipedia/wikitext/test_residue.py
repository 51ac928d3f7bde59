"""wikipedia/wikitext/residue.py: what looks lost or left in a first sentence."""

import pytest

from smooth_clir.wikipedia.wikitext.residue import residue
from tests.wikipedia.wikitext.test_first_sentences import cases


@pytest.mark.parametrize(
    ("sentence", "suspicion"),
    [
        ("Alba (1950–1990) is a town of 5 km², at a height of 3 1/2 km.", None),
        ("Ziwa Mfano ni ziwa lenye eneo la km² 34.7 nchini Uganda.", None),
        ("Anna (born 1950) lived 1950 – 1990 in Rome; she died, too.", None),
        ("thumb|250px|A view Alba is a town.", "with markup"),
        ("Alba is ''a town in the hills.", "with markup"),
        ("Alba is <span>a town.", "with markup"),
        ("Alba (the old town is large.", "with an unbalanced bracket"),
        ("東京（とうきょうは日本の首都である。", "with an unbalanced bracket"),
        ("Alba (, Italy) is a town.", "with signs or words around nothing"),
        ("Alba (Roma, – Milano) è una città.", "with signs or words around nothing"),
        ("Alba es una especie de de largo.", "with signs or words around nothing"),
        ("A newt that grows to 5 – in length.", "with signs or words around nothing"),
        ("Alba est une commune d'une superficie de au total.", "with signs or words around nothing"),
        ("Alba, d'une longueur de et d'une largeur de 5 m, est un lac.", "with signs or words around nothing"),
        ("La tour, haute de, domine Alba.", "with signs or words around nothing"),
        ("La vallée mesure entre et de largeur.", "with signs or words around nothing"),
        ("The hill is between and high.", "with signs or words around nothing"),
        ("The road runs from to in the hills.", "with signs or words around nothing"),
        ("Alba covers an area of in total.", "with signs or words around nothing"),
        ("Alba tiene una superficie de y es una villa.", "with signs or words around nothing"),
        ("Alba ha una superficie di e si trova in Italia.", "with signs or words around nothing"),
        ("Der Berg ist zwischen und hoch.", "with signs or words around nothing"),
        ("Озеро глубиной от до лежит в горах.", "with signs or words around nothing"),
        ("La rue de la Paix va de Paris à Rome, de par la loi, et de là au lac.", None),
        ("Alba a un mur d’au moins 10 km, et un lac d'y passer.", None),
        ("Das Amt hat eine Dauer von bis zu zehn Jahren.", None),
        ("De y-as is een lijn; het boek van de auteur, et al.", None),
        ("The town of Alba, of which he is proud, lies between Rome and Bari.", None),
        ("La villa de Alba y la de Roma; el hijo de él, de en medio.", None),
        ("Alba lies about km north of Rome.", "with a unit without a number"),
        ("Alba is.", "of fewer than 4 words"),
    ],
)
def test_what_is_suspicious_is_named(sentence: str, suspicion: str | None) -> None:
    assert residue(sentence) == suspicion


def test_few_of_the_right_first_sentences_are_suspicious() -> None:
    sentences = [case.values[1]["sentence"] for case in cases()]
    suspicions = {sentence: suspicion for sentence in sentences if (suspicion := residue(sentence))}
    assert set(suspicions.values()) <= {"of fewer than 4 words"}, suspicions
