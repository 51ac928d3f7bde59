"""models/rivals/rank_lists.py: run files of rivals, and their parameters."""

import json
from io import StringIO

import pytest

from models.rivals.rank_lists import rank_lists, translate_queries
from models.rivals.term_lists import TermLists
from models.texts.tokens import ALL_WORDS
from models.translators.command import ALLOWED
from schemas.errors import DataError
from schemas.evaluation import PARAMETERS_FILE
from schemas.trec import parse_run
from tests.models.conftest import without_graphs  # noqa: F401
from tests.models.eagerly import EAGERLY
from tests.models.rivals.small_lists import DOCUMENTS, SPLITS, lexicon, lists
from tests.models.translators.small_translator import settings_of

pytestmark = [pytest.mark.tensors, *EAGERLY]

METHODS = ["tfidf", "translated", "cl_lsi"]


def rank(splits):
    texts = TermLists.read(splits, ("en", "fr"), ALL_WORDS, lexicon(), top_grade=2, vocabulary_size=9, seed=1)
    return rank_lists(METHODS, texts)


def test_each_method_has_a_run_file_with_its_name_and_its_parameters():
    files = rank(SPLITS)
    assert files.keys() == {*(f"{name}.trec" for name in METHODS), PARAMETERS_FILE}
    for name in METHODS:
        tag, run = parse_run(StringIO(files[f"{name}.trec"]), name)
        assert tag == name
        assert {query_id: set(ranked) for query_id, ranked in run.items()} == dict.fromkeys(["t1", "t2"], {*DOCUMENTS})
    parameters = json.loads(files[PARAMETERS_FILE])
    assert parameters.keys() == {*METHODS}
    assert (parameters["tfidf"], parameters["translated"].keys()) == ({}, {"translation"})


def test_each_query_is_translated_once_and_what_has_none_is_empty(monkeypatch):
    monkeypatch.setenv(ALLOWED, "*")
    test_lists = lists({"q1": "d\x0b  a", "q2": "b", "q3": "b"}, {"q1": {"d1": 2}, "q2": {"d1": 2}, "q3": {"d1": 2}})
    program = "text = sys.stdin.read(); sys.stdout.write(text.upper().replace('B', ''))"
    assert translate_queries([test_lists, test_lists], settings_of(program), ("en", "fr")) == {
        b"d\x0b  a": b"D A",
        b"b": b"",
    }


def test_a_split_without_lists_is_refused():
    with pytest.raises(DataError, match="eval"):
        rank({**SPLITS, "eval": lists({}, {})})
