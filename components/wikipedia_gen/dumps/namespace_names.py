"""Names of namespaces besides those in a wiki's own language."""

from typing import Final

CANONICAL: Final = frozenset(
    f"{name}{talk}"
    for name in (
        *("user", "project", "file", "mediawiki", "template", "help", "category"),
        *("portal", "draft", "timedtext", "module", "gadget", "topic", "wikipedia", "image"),
    )
    for talk in ("", " talk")
) | {"media", "special", "talk", "wp", "wt"}
"""What MediaWiki and its extensions call theirs in English. Every wiki knows those that it has by these names too, in
whatever case; and no article of a Wikipedia has a title that begins with one."""

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
"""Older names and forms for women, by the language of the wiki. A name that is missing makes a title of which there is
no page, and so no link."""
