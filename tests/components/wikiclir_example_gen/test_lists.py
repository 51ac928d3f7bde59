"""The list of a query, of ids alone."""

import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.collection import Shard, parse_judgments
from tests.components.collected import collect

pytestmark = pytest.mark.stages  # it imports Beam

DOC_IDS = [f"d{number}" for number in range(12)]
TEXT_OF = {"d10": "d9", "d11": "d1"}
"""Documents with the text of an earlier one."""
grades = st.dictionaries(st.sampled_from(DOC_IDS), st.integers(0, 2), max_size=6).map(lambda drawn: {**drawn, "d0": 2})


@pytest.fixture(scope="module")
def make_list(tmp_path_factory):
    """Makes a list of blocks of lines that stand together in the file, see `read_lines_of_query`."""
    from components.wikiclir_example_gen.lists import IngestSettings, MakeList

    folder = tmp_path_factory.mktemp("documents") / "collection"
    lines = [f"{doc_id}\ttitle\ttext of {TEXT_OF.get(doc_id, doc_id)}\n".encode() for doc_id in DOC_IDS]
    roles = collect(folder, {"documents": [b"".join(lines[:5]), b"".join(lines[5:])]})

    def make_list(blocks, negatives, seed, query_id="q", **settings):
        make = MakeList(IngestSettings(negatives, seed, None, top_grade=2, **settings), str(folder), roles["documents"])
        make.setup()
        (_, made), *_ = make.process((query_id, {"query": [1], "judgments": blocks}))
        return made

    return make_list


def block(lines, first=1, query_id="q"):
    return first, "".join(f"{query_id}\t{doc_id}\t{grade}\n" for doc_id, grade in lines).encode()


@given(grades, st.integers(1, 14), st.data())
def test_of_a_pair_s_judgments_the_first_in_the_file_counts_however_they_are_grouped(
    make_list, judged, negatives, data
):
    lines = [*judged.items(), *((doc_id, (grade + 1) % 3) for doc_id, grade in judged.items())]
    cut = data.draw(st.integers(0, len(lines)))
    blocks = [block(lines[cut:], cut + 1), block(lines[:cut])]
    assert make_list(blocks, negatives, 1) == make_list([block(judged.items())], negatives, 1)


lines_of_a_file = st.lists(st.sampled_from(["q1\td1\t2\n", "q1\td2\t0\n", "qé\td1\t1\ttest\n", "\n"]), max_size=9)


@given(lines_of_a_file, st.integers(1, 50))
def test_blocks_of_lines_hold_the_judgments_of_the_file_with_their_places(lines, first_line):
    from components.wikiclir_example_gen.reading import read_lines_of_query

    shard = Shard("judgments-00000-00000.tsv", first_line, len(lines))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, shard.name).write_text("".join(lines), encoding="utf-8", newline="")
        blocks = [*read_lines_of_query(shard, folder)]
    judgments = []
    for query_id, (first, content) in blocks:
        judgments += parse_judgments(content.splitlines(keepends=True), first)
        assert {query_id} == {judgment.query_id for judgment in parse_judgments(content.splitlines(True), first)}
    assert judgments == [*parse_judgments([line.encode() for line in lines], first_line)]
    assert all(block[0] != following[0] for block, following in pairwise(blocks))


@pytest.mark.parametrize("own", [0, 1, 2])
def test_a_query_s_own_document_is_left_out_where_that_is_asked_whatever_its_grade(make_list, own):
    judgments = [block([("d0", 2), ("d3", own)], query_id="d3")]
    made = make_list(judgments, len(DOC_IDS), 1, "d3", leave_out_own=True)
    assert sorted(made.grades) == sorted({*DOC_IDS} - {"d3"})
    assert made.used == {"judgments": ["d0"]}
    assert sorted(make_list(judgments, len(DOC_IDS), 1, "d3").grades) == sorted(DOC_IDS)


@pytest.mark.parametrize(
    ("judged", "missing"), [({"d0": 2}, set()), ({"d0": 2, "d1": 1}, {"d11"}), ({"d10": 2}, {"d9"})]
)
def test_a_copy_of_a_relevant_document_is_not_drawn_whichever_comes_first(make_list, judged, missing):
    made = make_list([block(judged.items())], len(DOC_IDS), 1)
    assert {*DOC_IDS} - made.grades.keys() == missing
