"""tools/linked_documents.py: a collection of linked documents in one language."""

from collections import defaultdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from schemas.wikiclir import CANDIDATES_FILE
from tools.linked_documents import main, read_rows

LINKED = {f"d{number}": [f"d{number // 6 * 6 + index}" for index in range(6)] for number in range(60)}
"""Ten articles of six documents, all of which are linked."""


@pytest.mark.parametrize("arguments", [[], ["--hold-out", "documents"], ["--train-lists", "3"]])
def test_links_are_divided_among_the_splits_without_loss_or_leak(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "wiki_fr.documents").write_text("".join(f"{doc_id}\ttitle\ttext of {doc_id}\n" for doc_id in LINKED))
    pairs = [(doc_id, linked) for doc_id, documents in LINKED.items() for linked in documents]
    grades = {True: 2, False: 1}
    lines = [f"q{doc_id}\t{linked}\t{grades[doc_id == linked]}\n" for doc_id, linked in pairs]
    (tmp_path / "en2fr.rel").write_text("".join(lines))
    limits = ["--most-trained", "5", "--most-listed", "20"]
    done = CliRunner().invoke(main, [str(tmp_path), str(tmp_path / "linked"), *limits, *arguments])
    assert done.exit_code == 0, done.output
    lists: dict[str, dict[str, int]] = defaultdict(dict)
    for query_id, doc_id, grade, split in read_rows(tmp_path / "linked" / CANDIDATES_FILE):
        lists[query_id][doc_id] = int(grade)
        assert query_id.split(".")[1] == split
    assert {query_id for query_id, *_ in read_rows(tmp_path / "linked" / "wiki_fr.queries")} == lists.keys()
    links, shares = set(), dict.fromkeys(("train", "eval", "test"), 0)
    documents_of_split: dict[str, set[str]] = defaultdict(set)
    for query_id, listed in lists.items():
        document, split, *number = query_id.split(".")
        irrelevant = {doc_id for doc_id, grade in listed.items() if not grade}
        assert document not in listed and not irrelevant & {*LINKED[document]}
        documents_of_split[split] |= {document, *listed}
        if "documents" not in arguments:
            assert len(irrelevant) == (5 if split == "train" else 20)
        if number in ([], ["1"]):
            new = {(document, doc_id) for doc_id, grade in listed.items() if grade}
            assert not links & new
            links |= new
            shares[split] += len(new)
    assert links == {(doc_id, linked) for doc_id, linked in pairs if linked != doc_id}
    if "documents" in arguments:  # no document stands in two splits
        assert sum(map(len, documents_of_split.values())) == len(LINKED)
    else:
        assert [share / 300 for share in shares.values()] == pytest.approx([0.6, 0.1, 0.3], abs=0.08)
    if "--train-lists" in arguments:  # the same links, and other documents beside them
        own = [lists[f"d0.train.{number}"] for number in (1, 2, 3)]
        assert len({tuple(sorted(listed)) for listed in own}) > 1
        assert len({tuple(sorted(doc_id for doc_id, grade in listed.items() if grade)) for listed in own}) == 1
