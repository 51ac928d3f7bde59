"""components/wikipedia_gen/wikitext/link_targets.py: every link of a page, and nothing that only looks like one."""

import pytest

from components.wikipedia_gen.wikitext.conventions import conventions_for
from components.wikipedia_gen.wikitext.link_targets import link_targets
from components.wikipedia_gen.wikitext.visible import visible

FRENCH = conventions_for("fr", {6: "Fichier", 14: "Catégorie"})


@pytest.mark.parametrize(
    ("wikitext", "targets"),
    [
        ("[[a]] [[b|c]] [[d|]] [[a]]", ["a", "b", "d"]),
        ("[[a#b]] [[#b]] [[A_b]] [[ a ]] [[:a]]", ["a#b", "#b", "A_b", " a ", ":a"]),
        ("[[a|b [c] d]] [[b|''c'' {{d}}]]", ["a", "b"]),
        ("[[a|b\nc]]", ["a"]),
        ("{{a|[[b]]|c={{d|[[e]]}}}}", ["b", "e"]),
        ("<ref>[[a]]</ref>\n{|\n| [[b]]\n|}\n<gallery>\nFichier:x|[[c]]\n</gallery>", ["a", "b", "c"]),
        ("== [[a]] ==\n* [[b]]\n: [[c]]", ["a", "b", "c"]),
        ("[[Fichier:a.jpg|thumb|[[b]] [[c|d]]]] [[image:x]] [[File:y]]", ["b", "c"]),
        ("[[Catégorie:a|b]] [[category:c]] [[:Catégorie:d]]", [":Catégorie:d"]),
        ("[[fr:a]] [[wikt:b|c]] [[Star Trek: d]]", ["fr:a", "wikt:b", "Star Trek: d"]),
        ("<!-- [[a]] --> <nowiki>[[b]]</nowiki> <math>[[c]]</math> <pre>[[d]]</pre> [[e]]", ["e"]),
        ("<!-- [[a]]", []),
        ("[[a<!-- b -->c]]", ["ac"]),
        ("[[a", []),
        ("[[a|b", []),
        ("[[a|b [[c]]", ["c"]),
        ("[[a\nb]] [[]] [[|a]] [[{{a}}]] [[<b>a</b>]]", []),
        ("[[[a]]] [a] [[b]", ["a"]),
        ("]] [[a]]", ["a"]),
    ],
)
def test_links_of_a_page(wikitext: str, targets: list[str]) -> None:
    assert list(link_targets(visible(wikitext), FRENCH)) == targets
