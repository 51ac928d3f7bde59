"""Domains from titles: the largest ones, with equally many train lists, and every other list of theirs."""

from pathlib import Path

from click.testing import CliRunner

from tools.title_domains import chosen_queries, domain_of, main


def test_the_largest_domains_have_equally_many_train_lists_and_all_others() -> None:
    sizes = {"a": 9, "b": 7, "c": 4}
    names = {f"{name}{number}": name for name, size in sizes.items() for number in range(size)}
    splits = {query_id: "test" if query_id.endswith("0") else "train" for query_id in names}
    chosen = chosen_queries(names, splits, max_domains=2, train_lists=3)
    counts = {name: sum(query_id.startswith(name) for query_id in chosen) for name in sizes}
    assert counts == {"a": 3 + 1, "b": 3 + 1, "c": 0} and {"a0", "b0"} <= chosen
    # Domains with too few train lists are left out.
    assert {query_id[0] for query_id in chosen_queries(names, splits, max_domains=3, train_lists=7)} == {"a"}


def test_the_files_hold_the_chosen_queries_alone(tmp_path: Path) -> None:
    assert [domain_of(title) for title in ("1 Samuel 3:4", "Obadiah 7", "Genesis")] == ["1 Samuel", "Obadiah", None]
    titles = {"1": "Psalms 1:1", "2": "Psalms 1:2", "3": "Job 1:1", "4": "Psalms 2:1"}
    (tmp_path / "wiki_en.queries").write_text("".join(f"{query}\t{title}\ttext\n" for query, title in titles.items()))
    rows = {query: f"{query}\td1\t2\t{'test' if query == '4' else 'train'}\n" for query in titles}
    (tmp_path / "candidates.tsv").write_text("".join(rows.values()))
    done = CliRunner().invoke(main, [str(tmp_path), str(tmp_path / "out"), "--domains", "1", "--train-lists", "2"])
    assert (done.exit_code, done.output) == (0, "Psalms: 2 train, 0 eval, 1 test\n")
    assert (tmp_path / "out" / "domains.tsv").read_text() == "1\tPsalms\n2\tPsalms\n4\tPsalms\n"
    assert (tmp_path / "out" / "candidates.tsv").read_text() == rows["1"] + rows["2"] + rows["4"]
