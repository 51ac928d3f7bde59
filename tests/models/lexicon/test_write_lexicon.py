"""The work of LexiconGen: which pairs it learns from, and what it says of those that it cannot use."""

import bz2
import gzip
import json
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.lexicon.lexicon import read_lexicon
from models.lexicon.write_lexicon import FurtherPairs, PairSource, mr_pairs, write_lexicon
from schemas.byte_streams import input_digest
from schemas.domains import domains_to_train
from schemas.errors import DataError
from schemas.lexicon_report import LexiconReport
from schemas.word_rules import WordRules
from tests.models.lexicon.small_lexicon import table_of
from tests.models.synthetic import write_examples

pytestmark = pytest.mark.tensors

GOOD = b"wolf\tloup\ndog\tchien\n"
WORDS = [("wolf", "loup", 1.0), ("dog", "chien", 1.0)]
PARTS = [GOOD, *(b"wolf", b"\t", b" ", b"\n", b"\r\n", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xc2\x85\xe2\x80\xa8")]
CONTENTS = st.lists(st.lists(st.sampled_from(PARTS), max_size=20).map(b"".join), min_size=1, max_size=3)

RULES = WordRules(max_tokens=200)


def further_pairs(folder, contents, max_bad_share=1.0, digest=None, weight=1.0, ending=""):
    """The pairs of files, each with one of the contents."""
    paths = [folder / f"pairs-{number}{ending}" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    source = PairSource("pairs", [str(path) for path in paths], weight, digest)
    return FurtherPairs([source], max_bad_share)


# Pairs of the train lists


def example(query_id, query, documents):
    """A list whose documents are given as text to grade."""
    return {
        "query_id": [query_id],
        "query_domain": [query_id.partition(b"/")[0]],
        "query_text": [query],
        "doc_text": list(documents),
        "relevance": list(documents.values()),
    }


def test_a_query_is_paired_with_each_of_its_mr_documents_in_the_order_of_the_ids(tmp_path):
    dog, cat = example(b"q2", b"dog", {b"chien": 2, b"loup": 0}), example(b"q3", b"cat", {b"loup": 0})
    write_examples(tmp_path / "a", [dog, cat])
    write_examples(tmp_path / "b", [example(b"q1", b"wolf", {b"loup": 2, b"chien": 1, b"loups": 2})])
    files = [str(tmp_path / "b"), str(tmp_path / "a")]
    assert mr_pairs(files, 2) == [(b"wolf", b"loup"), (b"wolf", b"loups"), (b"dog", b"chien")]
    assert mr_pairs(files, 3) == mr_pairs([], 2) == []


def test_queries_of_other_domains_are_paired_with_nothing(tmp_path):
    lists = [example(f"{name}/1".encode(), name.encode(), {b"loup": 2}) for name in ("news", "health", "arts")]
    write_examples(tmp_path / "a", lists)
    files = [str(tmp_path / "a")]
    assert mr_pairs(files, 2, domains_to_train(["health"])) == [(b"arts", b"loup"), (b"news", b"loup")]


@pytest.mark.parametrize(
    ("languages", "tables"), [(("en", "de+fr"), ["fr", "de"]), (("en+it", "de+fr"), ["en-fr", "en-de"])]
)
def test_pairs_of_several_languages_belong_to_tables_of_their_own(tmp_path, languages, tables):
    wolf = {**example(b"q1", b"wolf", {b"loup": 2, b"chien": 1, b"Wolf": 2}), "doc_lang": [b"fr", b"fr", b"de"]}
    write_examples(tmp_path / "a", [wolf | {"query_lang": [b"en"]}])
    loup, other = mr_pairs([str(tmp_path / "a")], 2, languages=languages)
    assert [loup, other] == [(b"wolf", b"loup", 1.0, tables[0]), (b"wolf", b"Wolf", 1.0, tables[1])]


# Further pairs


@pytest.mark.parametrize("by_file", [False, True])
def test_where_documents_are_in_several_languages_each_file_is_a_table(tmp_path, by_file):
    pairs = further_pairs(tmp_path, [GOOD, GOOD])
    pairs = FurtherPairs(pairs.sources, 0.0, by_file)
    paths = [path for source in pairs.sources for path in source.paths]
    tables = [(path,) if by_file else () for path in paths for _ in WORDS]
    assert [*map(tuple, pairs)] == [(*pair, *table) for pair, table in zip(WORDS * 2, tables, strict=True)]


@pytest.mark.parametrize("store", [bytes, gzip.compress, bz2.compress])
def test_pairs_of_several_files_are_read_in_their_order(tmp_path, store):
    pairs = further_pairs(tmp_path, [store(GOOD), store("été\tSommer".encode())])
    assert list(pairs) == [*WORDS, ("été", "Sommer", 1.0)]
    report = pairs.report()
    assert (report.path, report.read, report.used) == (f"{tmp_path}/pairs-0 and {tmp_path}/pairs-1", 3, 3)


def test_a_bad_line_is_left_out_and_counted(tmp_path):
    pairs = further_pairs(tmp_path, [GOOD, b"wolf\t\xff\n" + GOOD])
    assert list(pairs) == 2 * WORDS
    (drops,) = pairs.report().drops
    assert (drops.reason.name, drops.count) == ("BAD_UTF8", 1)
    assert (drops.examples[0].file, drops.examples[0].line) == (f"{tmp_path}/pairs-1", 1)


@given(CONTENTS)
def test_every_line_is_used_or_left_out_and_the_digest_is_that_of_the_bytes(tmp_path_factory, contents):
    digest = input_digest([sha256(content).hexdigest() for content in contents])
    pairs = further_pairs(tmp_path_factory.mktemp("pairs"), contents, digest=digest)
    used = list(pairs)
    report = pairs.report()
    assert report.used == len(used)
    assert report.read == len(used) + sum(drops.count for drops in report.drops)
    assert report.read == sum(map(number_of_lines, contents))


def number_of_lines(content):
    """The lines of a file without those at its end that are blank."""
    lines = [line.removesuffix(b"\r") for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    while lines and not lines[-1]:
        lines.pop()
    return len(lines)


def test_too_many_bad_pairs_are_refused_with_the_first_of_them(tmp_path):
    content = GOOD + b"cat chat\n"
    with pytest.raises(DataError, match=rf"{tmp_path}/pairs-0: 1 of 3 .* 0.3 .*\n.*\n +{tmp_path}/pairs-0:3: cat chat"):
        list(further_pairs(tmp_path, [content], max_bad_share=0.3))
    assert len(list(further_pairs(tmp_path, [content], max_bad_share=1 / 3))) == 2


@pytest.mark.parametrize(
    ("content", "ending", "line"), [(gzip.compress(GOOD)[:-8], "", r"\d"), (b'{"loup":\n {"wolf" 0.5}}', ".json", 2)]
)
def test_a_file_that_breaks_off_and_what_is_no_table_are_refused_whatever_the_share(tmp_path, content, ending, line):
    with pytest.raises(DataError, match=f"pairs-0{ending}:{line}: "):
        list(further_pairs(tmp_path, [content], ending=ending))


@pytest.mark.parametrize("store", [bytes, gzip.compress])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, store):
    digest = sha256(store(GOOD)).hexdigest()
    assert len(list(further_pairs(tmp_path, [store(GOOD)], digest=digest))) == 2
    pairs = iter(further_pairs(tmp_path, [store(GOOD)], digest=digest))
    with (tmp_path / "pairs-0").open("ab") as file:
        file.write(store(b"cat\tchat\n"))
    with pytest.raises(DataError, match="pairs-0 changed while .*channels.lexicon.pairs"):
        list(pairs)


@pytest.mark.parametrize(
    ("whole", "cut", "ending"),
    [
        (gzip.compress(GOOD), gzip.compress(GOOD)[:-8], ""),
        (b'{"loup": {"wolf": 0.5}}', b'{"loup": {"wo', ".json"),
    ],
)
def test_that_a_file_changed_is_said_rather_than_that_it_breaks_off(tmp_path, whole, cut, ending):
    with pytest.raises(DataError, match="changed while the run read it"):
        list(further_pairs(tmp_path, [cut], digest=sha256(whole).hexdigest(), ending=ending))


# Weights


def test_the_weight_of_a_pair_is_its_own_times_that_of_its_kind(tmp_path):
    (tmp_path / "titles").write_bytes(GOOD)
    (tmp_path / "words").write_bytes(b"wolf\tloup\t0.5\ncat\tchat\n")
    sources = [
        PairSource("pairs", [str(tmp_path / "words")], 4.0),
        PairSource("title_pairs", [str(tmp_path / "titles")], 0.25),
    ]
    assert list(FurtherPairs(sources, 0.0)) == [
        *(("wolf", "loup", 2.0), ("cat", "chat", 4.0)),
        *(("wolf", "loup", 0.25), ("dog", "chien", 0.25)),
    ]


def test_a_weight_that_floats_round_to_0_still_counts(tmp_path):
    pairs = further_pairs(tmp_path, [b"wolf\tloup\t5e-324\n"], weight=1e-9)
    report = written(tmp_path / "lexicon", "lexicon", ("en", "fr"), RULES, [(b"cat", b"chat")], pairs)
    assert (report.translations, report.pairs["used"], report.pairs_weight) == (2, 1, 1e-9)
    table = table_of(read_lexicon(str(tmp_path / "lexicon")))
    assert all(0 < weight <= 1 for weights in table.values() for weight in weights.values())


def test_a_table_and_lines_with_the_same_weights_give_the_same_lexicon(tmp_path):
    lines = b"wolf\tloup\t0.75\nwolf\tchien\t0.25\ndog\tchien\t1\n"
    table = json.dumps({"loup": {"wolf": 0.75}, "chien": {"wolf": 0.25, "dog": 1}}).encode()
    tables = []
    for content, ending in ((lines, ".tsv"), (table, ".json"), (gzip.compress(table), ".json.gz")):
        pairs = further_pairs(tmp_path, [content], 0.0, sha256(content).hexdigest(), ending=ending)
        written(tmp_path / "lexicon", "lexicon", ("en", "fr"), RULES, [], pairs)
        tables.append((tmp_path / "lexicon" / "lexicon.tsv").read_text())
    assert tables[0] == tables[1] == tables[2] != ""


# The lexicon


def written(folder, *arguments):
    folder.mkdir(exist_ok=True)
    write_lexicon(*arguments, iter([b"loup chien", b"chat"]), str(folder))
    return LexiconReport.from_json((folder / "report.json").read_text())


def test_it_learns_from_the_train_pairs_and_from_further_ones(tmp_path):
    pairs = further_pairs(tmp_path, [GOOD + b"bad\n"])
    report = written(tmp_path / "lexicon", "lexicon", ("en", "fr"), RULES, [(b"cat", b"chat")], pairs)
    assert table_of(read_lexicon(str(tmp_path / "lexicon"))).keys() == {"cat", "wolf", "dog"}
    assert (report.kind, report.train_pairs, report.documents) == ("lexicon", 1, 2)
    assert (report.terms, report.translations, report.translated) == (6, 3, 3)
    assert report.pairs == pairs.report().as_dict()
    assert (report.pairs["read"], report.pairs["used"]) == (3, 2)


def test_without_further_pairs_the_report_has_none(tmp_path):
    report = written(tmp_path / "lexicon", "bm25", ("en", "fr"), RULES, [], None)
    assert (report.kind, report.pairs, report.translations, report.documents) == ("bm25", None, 0, 2)
    content = json.loads((tmp_path / "lexicon" / "collection.json").read_text())
    assert (content["query_language"], content["document_language"]) == ("en", "fr")
    assert content["rules"]["max_tokens"] == 200


def test_refused_pairs_leave_no_file(tmp_path):
    with pytest.raises(DataError):
        written(tmp_path / "lexicon", "lexicon", ("en", "fr"), RULES, [], further_pairs(tmp_path, [b"bad\n"], 0.0))
    assert list((tmp_path / "lexicon").iterdir()) == []
