"""Brings the titles of a wiki's articles into a normal form, and hashes them."""

import re
import unicodedata
from collections.abc import Iterable
from html import unescape
from typing import Final
from urllib.parse import unquote_to_bytes

import mmh3
import numpy as np
import numpy.typing as npt

from smooth_clir.wikipedia.dumps.site_info import SiteInfo

INTERWIKI: Final = frozenset(
    # Wikipedia's editions, including closed ones.
    """
    aa ab ace ady af ak als alt am ami an ang anp ar arc ary arz as ast atj av avk awa ay az azb ba ban bar bat-smg
    bcl be be-tarask be-x-old bg bh bi bjn blk bm bn bo bpy br bs btm bug bxr ca cbk-zam cdo ce ceb ch cho chr chy
    ckb co cr crh cs csb cu cv cy da dag de dga din diq dsb dtp dty dv dz ee egl el eml en eo es et eu ext fa fat ff
    fi fiu-vro fj fo fon fr frp frr fur fy ga gag gan gcr gd gl glk gn gom gor got gpe gsw gu guc gur guw gv ha hak
    haw he hi hif ho hr hsb ht hu hy hyw hz ia iba id ie ig igl ii ik ilo inh io is it iu ja jam jbo jv ka kaa kab
    kbd kbp kcg kg kge ki kj kk kl km kn ko koi kr krc ks ksh ku kus kv kw ky la lad lb lbe lez lfn lg li lij lld
    lmo ln lo lrc lt ltg lv lzh mad mai map-bms mdf mg mh mhr mi min mk ml mn mni mnw mo mos mr mrj ms mt mus mwl my
    myv mzn na nah nan nap nb nds nds-nl ne new ng nia nl nn no nov nqo nr nrm nso nup nv ny oc olo om or os pa pag
    pam pap pcd pcm pdc pfl pi pih pl pms pnb pnt ps pt pwn qu rm rmy rn ro roa-rup roa-tara rsk ru rue rup rw sa
    sah sat sc scn sco sd se sg sgs sh shi shn shy si simple sk skr sl sm smn sn so sq sr srn ss st stq su sv sw syl
    szl szy ta tay tcy tdd te tet tg th ti tig tk tl tly tn to tpi tr trv ts tt tum tw ty tyv udm ug uk ur uz ve vec
    vep vi vls vo vro wa war wo wuu xal xh xmf yi yo yue za zea zgh zh zh-cfr zh-classical zh-min-nan zh-yue zu
    """.split()
    # Their sister projects, and the movement's sites.
    + """
    b c cc commons d f foundation incubator m mediazilla meta metawiki metawikimedia mw n outreach phab phabricator
    q s sitematrix species strategy testwiki toollabs toolforge translatewiki v voy w wikibooks wikidata
    wikifunctions wikimania wikimedia wikinews wikipedia wikiquote wikisource wikispecies wikitech wikiversity
    wikivoyage wikt wiktionary wmf
    """.split()
    # Other sites to which articles link in this way.
    + "arxiv bugzilla doi gerrit google hdl imdbname imdbtitle oeis orcid pmid rfc sourceforge ticket wikia".split()
)
"""Lower-case prefixes of links to other wikis, known on all of Wikimedia's wikis. Their own maps have about 800, mostly
unused. A link with another prefix is read as a title without a page, and so ignored."""


CANONICAL: Final = frozenset(
    f"{name}{talk}"
    for name in (
        *("user", "project", "file", "mediawiki", "template", "help", "category"),
        *("portal", "draft", "timedtext", "module", "gadget", "topic", "wikipedia", "image"),
    )
    for talk in ("", " talk")
) | {"media", "special", "talk", "wp", "wt"}
"""The English names of the namespaces of MediaWiki and its extensions. Every wiki accepts them, in any case, and no
article's title begins with such a name."""

ALIASES: Final = {
    "ar": frozenset(["مستخدمة", "نقاش المستخدمة", "صورة", "نقاش الصورة"]),
    "de": frozenset(["benutzerin", "benutzerin diskussion", "bild", "bild diskussion"]),
    "es": frozenset(["usuaria", "usuaria discusión", "imagen", "imagen discusión"]),
    "fr": frozenset(["discuter", "utilisatrice", "discussion utilisatrice"]),
    "it": frozenset(["immagine", "discussioni immagine"]),
    "ja": frozenset(["画像", "画像‐ノート"]),
    "nl": frozenset(["afbeelding", "overleg afbeelding"]),
    "pl": frozenset(["wikipedystka", "dyskusja wikipedystki", "grafika", "dyskusja grafiki"]),
    "pt": frozenset(["usuária", "utilizador", "utilizadora", "imagem", "imagem discussão"]),
    "ru": frozenset(["участница", "обсуждение участницы", "изображение", "обсуждение изображения", "вп"]),
    "sw": frozenset(["picha", "majadiliano faili"]),
    "tl": frozenset(["larawan", "usapang larawan"]),
}
"""Older names of namespaces and feminine forms, by the language of the wiki. A link with another name is read as a
title without a page, and so ignored."""


_SPACES: Final = "_\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_BIDI: Final = "\u200e\u200f\u202a-\u202e"
_CHANGED: Final = re.compile(f"[{_SPACES}{_BIDI}]")
"""Characters that the normal form replaces."""

_ODD: Final = re.compile(rf"[\x00-\x1f#%&:<>\[\]{{|}}~\x7f\ufffd{_SPACES}{_BIDI}]")
"""Characters that do not occur in a link's target if it is a plain title."""

_RUN_OF_SPACES: Final = re.compile(f"[ {_SPACES}]+")
_RUN_OF_BIDI: Final = re.compile(f"[{_BIDI}]+")
_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_ENTITY: Final = re.compile(r"&(?:#[0-9]{1,8}|#[xX][0-9A-Fa-f]{1,8}|[A-Za-z][A-Za-z0-9]{1,40});")
_ILLEGAL: Final = re.compile(
    r"[\x00-\x1f#<>\[\]{|}\x7f\ufffd]"
    r"|%[0-9A-Fa-f]{2}|&(?:#[0-9]+|#x[0-9A-Fa-f]+|[A-Za-z0-9\x80-\U0010ffff]+);"
    r"|~~~|(?:^|/)\.\.?(?:/|$)"
)
_MAX_BYTES: Final = 255
_MAX_PLAIN: Final = _MAX_BYTES // 4
"""Number of characters that cannot exceed the bytes of a title."""

_DOTTED: Final = frozenset(["az", "kaa", "tr"])
"""Languages in which the capital of i has a dot."""


class Titles:
    """Brings titles and links of a wiki into the form of its pages' titles, as MediaWiki does.

    Args:
      site: the wiki.

    Example:
      >>> titles = Titles(SiteInfo("frwiki", "fr", True, {0: "", 6: "Fichier"}))
      >>> titles.normal("loup_gris"), [*map(titles.linked_title, (" loup&nbsp;gris#Habitat ", "2001: l'odyssée"))]
      ('Loup gris', ['Loup gris', "2001: l'odyssée"])
      >>> titles.linked_title("fichier:Loup.jpg"), titles.linked_title("File:Loup.jpg"), titles.linked_title(":en:Wolf")
      (None, None, None)
    """

    def __init__(self, site: SiteInfo) -> None:
        self._first_letter = site.first_letter
        self._dotted = site.language in _DOTTED
        own = (name.lower() for name in site.namespaces.values() if name)
        self._prefixes = {*own, *CANONICAL, *ALIASES.get(site.language, ()), *INTERWIKI}
        self._own_code = site.code
        if self._own_code:
            self._prefixes.add(self._own_code)

    def normal(self, title: str) -> str:
        """Returns the normal form of a title in the main namespace.

        Underscores and other spaces become single spaces, direction marks are removed, the text is in NFC, and the
        first letter is a capital in wikis with this rule.
        """
        if _CHANGED.search(title) or "  " in title:
            title = _RUN_OF_SPACES.sub(" ", _RUN_OF_BIDI.sub("", title))
        return self._capital(_nfc(title.strip(" ")))

    def linked_title(self, target: str) -> str | None:
        """Returns the title of the article to which a link leads.

        Args:
          target: the text `target` in `[[target]]` or `[[target|...]]`.

        Returns:
          the title, even if the page does not exist; None for a section of the same page, for another namespace or
          wiki, and for a target that MediaWiki shows as plain text.
        """
        # A shortcut for plain titles: nine in ten links, dozens on each page.
        if len(target) > _MAX_PLAIN or _ODD.search(target) or "  " in target or "/." in target:
            return self._odd_linked_title(target)
        if target[:1] in " ." or target[-1:] == " ":
            return self._odd_linked_title(target)
        return self._capital(_nfc(target))

    def _odd_linked_title(self, target: str) -> str | None:
        decoded = _decoded(target)
        if decoded is None:
            return None
        title = _RUN_OF_SPACES.sub(" ", _RUN_OF_BIDI.sub("", decoded)).strip(" ")
        title = title.removeprefix(":").lstrip(" ")
        while ":" in title:
            prefix, _, name = title.partition(":")
            prefix = prefix.rstrip(" ").lower()
            if prefix not in self._prefixes:
                break
            if prefix != self._own_code:
                return None
            title = name.lstrip(" ")
        title = title.partition("#")[0].rstrip(" ")
        is_illegal = not title or title[0] == ":" or _ILLEGAL.search(title)
        return None if is_illegal or len(title.encode("utf-8", "replace")) > _MAX_BYTES else self._capital(_nfc(title))

    def _capital(self, title: str) -> str:
        first = title[:1]
        if not self._first_letter or not first.islower():
            return title
        if first == "i" and self._dotted:
            return f"İ{title[1:]}"
        # MediaWiki keeps Georgian letters, and letters whose capital is two letters.
        capital = first.upper()
        return title if len(capital) > 1 or "\u10d0" <= first <= "\u10ff" else capital + title[1:]


def _nfc(title: str) -> str:
    return title if title.isascii() else unicodedata.normalize("NFC", title)


def _decoded(target: str) -> str | None:
    """Decodes percent escapes and entities; returns None if the escaped bytes are not UTF-8."""
    if "%" in target and _ESCAPE.search(target):
        try:
            target = unquote_to_bytes(target).decode()
        except UnicodeDecodeError:
            return None
    return _ENTITY.sub(lambda entity: unescape(entity.group()), target) if "&" in target else target


def title_hash(title: str) -> int:
    """Returns 64 bits of a title's MurmurHash3, the same in every process and on every machine.

    Millions of hashes fit into memory, unlike the titles. Takes a third of the time of a cryptographic hash; the
    probability that any two of ten million titles have the same hash is below one in 300,000.

    Example:
      >>> bool(title_hash("Loup") == title_hashes([b"Chien", b"Loup"])[1])
      True
    """
    return mmh3.mmh3_x64_128_utupledigest(title.encode())[0]


def title_hashes(titles: Iterable[bytes]) -> npt.NDArray[np.uint64]:
    """Returns the `title_hash` of each title in UTF-8: uint64 [titles]."""
    # A digest has 128 bits, the first half first.
    digests = np.frombuffer(b"".join(map(mmh3.mmh3_x64_128_digest, titles)), "<u8")
    return digests[::2].astype(np.uint64)
