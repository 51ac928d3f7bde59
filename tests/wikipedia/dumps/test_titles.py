"""wikipedia/dumps/titles.py: where a link leads, by the rules of MediaWiki."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smooth_clir.wikipedia.dumps.site_info import SiteInfo
from smooth_clir.wikipedia.dumps.titles import Titles, title_hash, title_hashes

NAMESPACES = {-1: "Spécial", 0: "", 1: "Discussion", 2: "Utilisateur", 4: "Wikipédia", 6: "Fichier", 14: "Catégorie"}
FRENCH = Titles(SiteInfo("frwiki", "fr", True, NAMESPACES))


def wiki_titles(language: str, first_letter: bool = True) -> Titles:
    return Titles(SiteInfo(f"{language}wiki", language, first_letter, {0: ""}))


# Titles


@pytest.mark.parametrize(
    ("language", "title", "normal"),
    [
        *(("fr", "Loup_gris", "Loup gris"), ("fr", "  loup__ gris_", "Loup gris"), ("fr", "", "")),
        ("fr", "loup\xa0gris\u3000et\u2003chien", "Loup gris et chien"),
        ("fr", "\u200eLoup\u200f \u202agris\u202c", "Loup gris"),
        *(("fr", "e\u0301tat", "État"), ("fr", "ça", "Ça"), ("fr", "1984", "1984"), ("fr", "狼", "狼")),
        ("fr", "2001:_l'odyssée", "2001: l'odyssée"),
        # A capital is one letter, as in MediaWiki; that of i has a dot in Turkish.
        *(("en", "ß", "ß"), ("en", "ŉ", "ŉ"), ("en", "ﬁn", "ﬁn"), ("en", "თბილისი", "თბილისი"), ("en", "ǆ", "Ǆ")),
        *(("en", "iPod", "IPod"), ("tr", "istanbul", "İstanbul"), ("az", "istanbul", "İstanbul")),
    ],
)
def test_a_title_has_one_form(language: str, title: str, normal: str) -> None:
    assert wiki_titles(language).normal(title) == normal


def test_a_wiki_that_tells_small_letters_keeps_them() -> None:
    titles = wiki_titles("en", first_letter=False)
    assert titles.normal("wolf") == titles.linked_title("wolf") == "wolf"


# Links


@pytest.mark.parametrize(
    ("target", "title"),
    [
        *(("Loup", "Loup"), ("loup gris", "Loup gris"), ("loup_gris", "Loup gris"), (" Loup  gris ", "Loup gris")),
        *(("Loup#Habitat", "Loup"), ("Loup gris_#Habitat: forêt", "Loup gris"), (":Loup", "Loup"), (": loup", "Loup")),
        *(("Caf%C3%A9", "Café"), ("100 %", "100 %"), ("100%25 laine", "100% laine"), ("AT%26T", "AT&T")),
        *(("AT&amp;T", "AT&T"), ("AT&T", "AT&T"), ("Caf&eacute;", "Café"), ("Caf&#233;&#x21;", "Café!")),
        *(("Loup&nbsp;gris", "Loup gris"), ("e\u0301tat", "État"), ("Loup\u200e", "Loup"), ("A/B", "A/B")),
        *(("/Sub", "/Sub"), ("...And Justice for All", "...And Justice for All"), ("Vol. 1/.hack", "Vol. 1/.hack")),
        *(("a''b''", "A''b''"), ("ذئب", "ذئب"), ("狼", "狼"), ("X" * 255, "X" * 255), ("É" * 127, "É" * 127)),
        # The wiki's own prefix is none.
        *((":fr:Loup", "Loup"), ("fr: loup", "Loup")),
    ],
)
def test_a_link_leads_to_the_article_of_that_title(target: str, title: str) -> None:
    assert FRENCH.linked_title(target) == title


@pytest.mark.parametrize(
    "title",
    [
        *("2001: l'odyssée de l'espace", "Terminator 2: Judgment Day", "CSI:NY", "Loup: gris", "Xyz:abc", "A : b"),
        "Re:Zero",
    ],
)
def test_only_known_prefixes_part_a_title_at_its_colon(title: str) -> None:
    assert FRENCH.linked_title(title) == title


@pytest.mark.parametrize(
    "target",
    [
        # Of another namespace
        *("Fichier:Loup.jpg", "fichier:Loup.jpg", "FICHIER : Loup.jpg", "_Fichier_:Loup.jpg", ":Fichier:Loup.jpg"),
        *("File:Loup.jpg", "Image:Loup.jpg", "Catégorie:Loup", ":Catégorie:Loup", "Category:Loup", "Cat%C3%A9gorie:x"),
        *("Utilisatrice:Anne", "Discuter:Loup", "Talk:Loup", "WP:LOUP", "Wikipédia:Accueil", "Wikipedia:x"),
        *("User talk:x", "Spécial:Recherche", "Special:Search", "Media:x.ogg", "Portal:x", "Module:x", "Template:x"),
        "fr:Fichier:Loup.jpg",
        # Of another wiki
        *("en:Wolf", ":en:Wolf", "EN: Wolf", "zh-min-nan:Lông", "wikt:loup", ":wikt:loup", "s:Le Loup", "commons:"),
        "doi:1",
        # No titles
        *("", " ", "_", ":", "::Loup", "#Habitat", " #Habitat", "Loup|gris", "a[b", "a]b", "a{b", "a}b", "a<b", "a>b"),
        *("a\nb", "a\tb", "a\x7fb", "a\ufffdb", ".", "..", "./a", "../a", "a/./b", "a/../b", "a/.", "a/..", "a~~~b"),
        *("a%5Bb", "%2541", "%3Cb%3E", "&lt;b&gt;", "&nosuch;", "&amp;nbsp;", "%FF", "x" * 256, "é" * 128),
    ],
)
def test_a_link_elsewhere_or_of_no_title_leads_to_no_article(target: str) -> None:
    assert FRENCH.linked_title(target) is None


@pytest.mark.parametrize(("target", "language"), [("picha:x.jpg", "sw"), ("Larawan:x.jpg", "tl")])
def test_older_names_of_namespaces_belong_to_their_language(target: str, language: str) -> None:
    assert wiki_titles(language).linked_title(target) is None
    assert wiki_titles("en").linked_title(target) is not None


# Laws

targets = st.text(
    st.sampled_from(" _:#%&;./~[]{|}<>aAéiß狼\u0301\u200e\xa0\ufffd\t25Cen") | st.characters(), max_size=12
)


@given(targets | st.sampled_from(["en", "File", "fr", "&amp;", "%41"]).map(lambda part: f":{part}:a"))
def test_a_title_is_its_own_normal_form_and_leads_to_itself(target: str) -> None:
    title = FRENCH.linked_title(target)
    assert FRENCH.normal(FRENCH.normal(target)) == FRENCH.normal(target)
    if title is not None:
        assert FRENCH.normal(title) == title == unicodedata.normalize("NFC", title)
        assert FRENCH.linked_title(f":{title}") == title


# Hashes


def test_hashes_are_the_same_one_by_one_and_together_and_in_every_process() -> None:
    titles = ["Loup", "Wolf", "狼", "", "Loup"]
    together = title_hashes(title.encode() for title in titles)
    assert together.dtype == np.uint64
    assert together.tolist() == [title_hash(title) for title in titles]
    assert title_hash("Loup") == 0x7D3BB7DD5BC55831
    assert (len({*together.tolist()}), title_hashes([]).shape) == (4, (0,))
