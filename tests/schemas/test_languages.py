"""Language codes."""

import re

import babel

from schemas.languages import LANGUAGES, language_name

# The languages of WikiCLIR (Sasaki et al. 2018), but for simple English, which has no code.
WIKICLIR = "ar ca zh nl en fi fr de it ja ko nn no pl pt ro ru es sv sw tl tr uk vi cs".split()


def test_every_code_is_two_letters():
    assert all(re.fullmatch("[a-z]{2}", code) for code in LANGUAGES)
    assert LANGUAGES.keys() >= {*WIKICLIR} and not LANGUAGES.keys() & {"xx", ""}
    assert len(LANGUAGES) == 183 + 1  # ISO 639-1 has 183 codes, and bh, withdrawn in 2021, is still an edition


def test_names_are_those_of_the_unicode_cldr():
    known = babel.Locale("en").languages
    different = {code: name for code, name in LANGUAGES.items() if known.get(code) != name}
    assert different == {"bh": "Bihari"}  # CLDR has the languages of this group one by one
    assert (language_name("sw"), language_name("xx")) == ("Swahili", "xx")
