"""Domains from titles: the largest ones, with equally many train lists, and every other list of theirs."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tools.title_domains import chosen_queries, domain_of, main


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Genesis 1:3", "Genesis"),
        ("1 Samuel 3:4", "1 Samuel"),
        ("Obadiah 7", "Obadiah"),
        ("Genesis", None),
        ("3:4", None),
    ],
)
def test_a_title_names_its_domain_before_the_number(title: str, name: str | None) -> None:
    assert domain_of(title) == name


def test_the_largest_domains_have_equally_many_train_lists_and_all_others() -> None:
    domain_of_query = {
        f"{name}{number}": name for name, size in (("a", 9), ("b", 7), ("c", 4)) for number in range(size)
    }
    splits = {query_id: "test" if query_id.endswith("0") else "train" for query_id in domain_of_query}
    chosen = chosen_queries(domain_of_query, splits, most=2, train_lists=3)
    for name in "ab":
        own = {query_id for query_id in chosen if query_id.startswith(name)}
        assert len(own) == 3 + 1 and f"{name}0" in own
    assert not {query_id for query_id in chosen if query_id.startswith("c")}
    assert chosen_queries(domain_of_query, splits, most=3, train_lists=7) == {
        query_id for query_id in chosen_queries(domain_of_query, splits, 1, 7) if query_id.startswith("a")
    }


def test_the_files_hold_the_chosen_queries_alone(tmp_path: Path) -> None:
    titles = {"1": "Psalms 1:1", "2": "Psalms 1:2", "3": "Job 1:1", "4": "Psalms 2:1"}
    (tmp_path / "wiki_en.queries").write_text("".join(f"{one}\t{title}\ttext\n" for one, title in titles.items()))
    splits = {"1": "train", "2": "train", "3": "train", "4": "test"}
    (tmp_path / "candidates.tsv").write_text("".join(f"{one}\td1\t2\t{split}\n" for one, split in splits.items()))
    done = CliRunner().invoke(main, [str(tmp_path), str(tmp_path / "out"), "--domains", "1", "--train-lists", "2"])
    assert (done.exit_code, done.output) == (0, "Psalms: 2 train, 0 eval, 1 test\n")
    assert (tmp_path / "out" / "domains.tsv").read_text() == "1\tPsalms\n2\tPsalms\n4\tPsalms\n"
    assert (tmp_path / "out" / "candidates.tsv").read_text() == "1\td1\t2\ttrain\n2\td1\t2\ttrain\n4\td1\t2\ttest\n"
