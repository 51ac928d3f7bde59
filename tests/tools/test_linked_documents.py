"""tools/linked_documents.py: a collection of linked documents in one language."""

from collections import defaultdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from schemas.wikiclir import CANDIDATES_FILE
from tools.linked_documents import main, read_rows

DOCUMENTS = [f"d{number}" for number in range(60)]
LINKED = {f"d{number}": [f"d{number // 6 * 6 + place}" for place in range(6)] for number in range(60)}
"""Ten articles of six documents, all of which are linked."""


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    folder = tmp_path / "collection"
    folder.mkdir()
    (folder / "wiki_fr.documents").write_text("".join(f"{one}\ttitle\ttext of {one}\n" for one in DOCUMENTS))
    lines = [(f"q{doc_id}", other, 2 if other == doc_id else 1) for doc_id, of in LINKED.items() for other in of]
    (folder / "en2fr.rel").write_text("".join(f"{query}\t{other}\t{grade}\n" for query, other, grade in lines))
    return folder


def make(collection: Path, *arguments: str) -> tuple[dict[str, dict[str, dict[str, int]]], Path]:
    """(Split to document to grades, folder) of the collection that is made."""
    output = collection.parent / "linked"
    done = CliRunner().invoke(main, [str(collection), str(output), *arguments])
    assert done.exit_code == 0, done.output
    lists: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for query_id, doc_id, grade, split in read_rows(output / CANDIDATES_FILE):
        document, _, of_query = query_id.partition(".")
        assert of_query.partition(".")[0] == split
        lists[split][document][doc_id] = int(grade)
    return lists, output


def test_links_are_divided_among_the_splits_and_none_is_lost(collection: Path) -> None:
    lists, output = make(collection)
    found = [(one, other) for of in lists.values() for one, grades in of.items() for other, g in grades.items() if g]
    assert sorted(found) == sorted((one, other) for one, others in LINKED.items() for other in others if other != one)
    shares = [sum(sum(grades.values()) for grades in lists[split].values()) for split in ("train", "eval", "test")]
    assert [share / 300 for share in shares] == pytest.approx([0.6, 0.1, 0.3], abs=0.08)
    judged = [row for row in read_rows(output / "fr2fr.rel")]
    assert len(judged) == 300 and {grade for *_, grade in judged} == {"1"}


def test_no_list_holds_its_own_document_or_a_link_of_another_split_as_irrelevant(collection: Path) -> None:
    lists, _ = make(collection, "--most-trained", "5", "--most-listed", "20")
    for split, of_split in lists.items():
        for document, grades in of_split.items():
            irrelevant = {other for other, grade in grades.items() if not grade}
            assert document not in grades and not irrelevant & {*LINKED[document]}
            assert len(irrelevant) == (5 if split == "train" else 20)


def test_held_out_documents_stay_together_and_are_listed_among_themselves(collection: Path) -> None:
    lists, _ = make(collection, "--hold-out", "documents")
    of_split = {split: {*of} | {other for grades in of.values() for other in grades} for split, of in lists.items()}
    assert sum(map(len, of_split.values())) == len(set().union(*of_split.values())) == len(DOCUMENTS)
    for of in lists.values():
        assert all(sum(grades.values()) == 5 for grades in of.values())  # no link is lost


def test_it_is_the_same_twice_and_another_with_another_seed(collection: Path) -> None:
    once, twice, other = (make(collection, "--seed", seed)[0] for seed in ("1", "1", "2"))
    assert once == twice != other


def test_a_document_may_have_several_train_lists_with_the_same_links_and_other_negatives(collection: Path) -> None:
    _, output = make(collection, "--train-lists", "3", "--most-trained", "5")
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for query_id, doc_id, grade, _ in read_rows(output / CANDIDATES_FILE):
        grades[query_id][doc_id] = int(grade)
    queries = [query_id for query_id, *_ in read_rows(output / "wiki_fr.queries")]
    assert sorted(queries) == sorted(grades)
    of_one = [grades[f"d0.train.{number}"] for number in (1, 2, 3)]
    assert "d0.train" not in grades and "d0.train.4" not in grades
    relevant = [{doc_id for doc_id, grade in of.items() if grade} for of in of_one]
    assert relevant[0] == relevant[1] == relevant[2]
    assert len({tuple(sorted(of)) for of in of_one}) > 1
