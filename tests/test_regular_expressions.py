"""Each regular expression of the readers takes time in proportion to the text, whatever is repeated in it."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise, product
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
import regex

import schemas
from smooth_clir import wikipedia
from smooth_clir.wikipedia.dumps.sql_syntax import SqlRowParser, SqlTable
from smooth_clir.wikipedia.wikitext.conventions import conventions_for
from smooth_clir.wikipedia.wikitext.sentences import _is_of_abbreviations
from smooth_clir.wikipedia.wikitext.words import _first, _unit, _word, _word_or_run

ROOMS = ("components", "models", "pipeline", "schemas", "smooth_clir")
METHODS = "search|match|fullmatch|sub|split|findall|finditer"
KINDS = (re.Pattern, type(regex.compile("")))
USES = {"_NAMES": "fullmatch", "_FRENCH": "fullmatch", "LANGUAGE_TABLES": "fullmatch", "template_families": "fullmatch"}
USES |= {"list_titles": "match", "disambiguation_titles": "search", "disambiguation_templates": "search"}
"""How expressions are used that are reached by another name than their constant's."""
SHORT_TEXTS = {
    "_NAMES": "names of files, at most 255 bytes",
    "_IN_PARENTHESIS": "titles, at most 255 bytes",
    "_ABBREVIATED": "the end of a sentence",
}
"""Constants that see nothing but short texts."""
LENGTHS = (125, 500, 2000)
"""Lengths of the runs, the short ones first: an expression of cubic time then fails before it takes minutes."""
FLOOR = 0.002
"""Seconds that a long text may take in any case."""


def patterns_in(value: object, name: str) -> Iterator[tuple[str, Any]]:
    """Compiled expressions in a value of a module, each with the name of the constant."""
    if isinstance(value, KINDS):
        yield name, value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from patterns_in(part, name)
    elif isinstance(value, tuple | list | set | frozenset):
        for part in value:
            yield from patterns_in(part, name)
    elif type(value).__module__.startswith(("schemas.", "smooth_clir.wikipedia.")):
        for attribute, part in getattr(value, "__dict__", {}).items():
            yield from patterns_in(part, attribute)


def constants() -> dict[str, tuple[Any, frozenset[str]]]:
    """The constants of the rooms without TensorFlow, and the methods by which their modules use them."""
    expressions: dict[str, tuple[Any, frozenset[str]]] = {}
    for room in (schemas, wikipedia):
        for info in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            module = importlib.import_module(info.name)
            source = Path(str(module.__file__)).read_text(encoding="utf-8")
            for name, pattern in (
                pair for constant, value in vars(module).items() for pair in patterns_in(value, constant)
            ):
                methods = frozenset(re.findall(rf"\b{name}\b(?:\[\w+\])?\.({METHODS})\(", source))
                key = f"{name} {pattern.pattern!r}"
                expressions[key] = pattern, methods | expressions.get(key, (None, frozenset()))[1]
    return {
        key: (pattern, methods or frozenset([USES.get(key.split()[0], "search")]))
        for key, (pattern, methods) in expressions.items()
        if key.split()[0] not in SHORT_TEXTS
    }


def calls() -> dict[str, tuple[Any, frozenset[str]]]:
    """The expressions that stand in calls of the module `re`, of all rooms."""
    expressions = {}
    for path in (path for room in ROOMS for path in Path(__file__).parents[1].glob(f"{room}/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and re.fullmatch(rf"re\.({METHODS})", called := ast.unparse(node.func)):
                if isinstance(node.args[0], ast.Constant):
                    method = called.removeprefix("re.")
                    expressions[f"{path.stem}:{node.lineno}"] = re.compile(node.args[0].value), frozenset([method])
    return expressions


def built() -> dict[str, tuple[Any, frozenset[str]]]:
    """Expressions that functions build, by their functions."""
    rows = SqlRowParser(SqlTable("t", {"a": "int", "b": "bytes", "c": "float"}), ["a", "b", "c"], ["a", "c"])
    makers = {
        "findall": rows,
        "search": [conventions_for(language, {}) for language in ("en", "fr", "ja")],
        "match": [_first(5, is_plain) for is_plain in (True, False)],
        "finditer": [_word(True), _word(False), _word_or_run(), _unit()],
    }
    return {
        f"built {pattern.pattern!r}": (pattern, frozenset([USES.get(name, method)]))
        for method, value in makers.items()
        for name, pattern in patterns_in(value, method)
    }


EXPRESSIONS = constants() | calls() | built()


def texts(pattern: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yields the parts of texts: a head, the unit that is repeated, and an end, of signs that the expression has."""
    is_bytes = isinstance(pattern.pattern, bytes)
    source = pattern.pattern.decode("latin-1") if is_bytes else pattern.pattern
    plain = re.sub(r"\\[bBdDsSwWAZ]|\\x..|\\u....", " ", source)
    signs = sorted({*re.findall(r"[^\w\s?+*^$]", plain)} - {"\\"} | ({"\\"} if r"\\\\" in source else set()))
    signs = [*signs[:: len(signs) // 20 + 1], " ", "\n", "1", "a"]  # of large classes a part
    heads = ["", *(sign for sign in signs if not sign.isspace())]
    for head, unit in [*product(heads, signs), *(("", sign + end) for sign in signs for end in " \na1")]:
        parts = head, unit, "\0"
        yield tuple(part.encode() for part in parts) if is_bytes else parts


def seconds(pattern: Any, method: str, text: Any) -> float:
    """The least time of three."""

    def apply() -> None:
        if method == "sub":
            pattern.sub(text[:0], text)
        else:
            result = getattr(pattern, method)(text)
            if method == "finditer":
                for _ in result:
                    pass

    times = []
    for _ in range(3):
        start = perf_counter()
        apply()
        times.append(perf_counter() - start)
        if times[-1] < FLOOR:
            break
    return min(times)


@pytest.mark.parametrize("name", [pytest.param(key, id=ascii(key)[:60]) for key in EXPRESSIONS])
def test_time_grows_no_faster_than_a_run(name: str) -> None:
    pattern, methods = EXPRESSIONS[name]
    for method, (head, unit, end) in product(sorted(methods), texts(pattern)):
        runs = [head + unit * (length // len(unit)) + end for length in LENGTHS]
        for short, long in pairwise(runs):
            # A loaded machine may slow one measurement down, but not ten.
            growths = (seconds(pattern, method, long) / seconds(pattern, method, short) for _ in range(10))
            assert seconds(pattern, method, long) < FLOOR or any(growth < 8 for growth in growths), (method, head, unit)


def test_texts_of_abbreviations_are_those_of_the_expression_whose_time_doubles_with_each_two_dots() -> None:
    expression = re.compile(r"(?:\S{1,9}\.\s*)+")
    parts = (".", "a", " ", "abcdefghi", "abcdefgh")
    for text in ("".join(signs) for length in range(7) for signs in product(parts, repeat=length)):
        assert _is_of_abbreviations(text) == (expression.fullmatch(text) is not None), text
    assert not _is_of_abbreviations("." * 10_000 + " abcdefghij.")
