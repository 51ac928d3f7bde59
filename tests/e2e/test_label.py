"""The recipe for a domain without judgments: train on others, index, label its queries, train again, once more."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.process import SAMPLE, SampleRun, forked
from tests.e2e.test_domains import HELD_OUT, domain_of

pytestmark = pytest.mark.long

DOCUMENTS = [line.split("\t") for line in (SAMPLE / "wiki_fr.documents").read_text().splitlines()]
TEXTS = {text: doc_id for doc_id, _, text in DOCUMENTS}


def grades() -> dict[str, dict[str, int]]:
    """Query text to the grades of its documents."""
    texts = dict(line.split("\t")[::2] for line in (SAMPLE / "wiki_en.queries").read_text().splitlines())
    found: dict[str, dict[str, int]] = {}
    for line in (SAMPLE / "en2fr.rel").read_text().splitlines():
        query_id, doc_id, grade = line.split("\t")
        found.setdefault(texts[query_id], {})[doc_id] = int(grade)
    return found


class Rounds:
    """The rounds of the recipe: the account and the pairs of each, and the metrics before and after."""

    def __init__(self, folder: Path) -> None:
        rows = [line.split("\t") for line in (SAMPLE / "wiki_en.queries").read_text().splitlines()]
        domains, self.queries = folder / "domains.tsv", folder / "queries.tsv"
        domains.write_text("".join(f"{query_id}\t{domain_of(query_id)}\n" for query_id, *_ in rows))
        held_out = ["\t".join(row) for row in rows if domain_of(row[0]) == HELD_OUT]
        self.queries.write_text("".join(f"{line}\n" for line in held_out))
        self.folder, self.output = folder, folder / "out"
        self.settings = (
            *("--set", f"data.domains={domains}", "--set", f"data.held_out=[{HELD_OUT}]"),
            *("--set", "training.epochs=2", "--set", "encoder.kind=none", "--set", "evaluation.start_anew=true"),
        )
        self.accounts: list[dict[str, Any]] = []
        self.pairs: list[list[tuple[str, str]]] = []
        self.metrics = [self.run()]
        for number in (1, 2):
            path = self.label(number)
            self.metrics.append(self.run("--set", f"lexicon.pairs={path}"))

    def run(self, *settings: str) -> dict[str, float]:
        """Trains, and returns the metrics of the lexicon alone on the held-out domain."""
        run = SampleRun(self.output, "configs/sample.yaml", *self.settings, *settings)
        assert run.code == 0, run.err
        found: dict[str, float] = run.report["channels"]["lexicon"]
        return found

    def label(self, number: int) -> Path:
        """Indexes all documents, and labels the held-out domain's queries."""
        assert forked("index", self.output).code == 0
        path = self.folder / f"pairs-{number}.tsv"
        done = forked("label", self.output, "--queries", self.queries, "--output", path, "--json")
        assert done.code == 0, done.err
        self.accounts.append(json.loads(done.out))
        self.pairs.append([tuple(line.split("\t")) for line in path.read_text().splitlines()])  # type: ignore[misc]
        return path


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Rounds:
    return Rounds(tmp_path_factory.mktemp("label"))


def test_most_labels_are_relevant_and_the_share_of_the_queries_is_kept(rounds: Rounds) -> None:
    judged = grades()
    for account, pairs in zip(rounds.accounts, rounds.pairs, strict=True):
        answered = account["queries"]["read"] - sum(
            one["count"] for one in account["queries"]["drops"] if one["reason"] != "small_margin"
        )
        assert len(pairs) == account["queries"]["used"] == round(0.67 * answered)
        relevant = [judged.get(query, {}).get(TEXTS[text], 0) > 0 for query, text in pairs]
        assert sum(relevant) > 0.7 * len(relevant)


def test_labels_raise_the_lexicon_on_the_domain_whose_judgments_it_does_not_know(rounds: Rounds) -> None:
    before, once, twice = (metrics["ndcg_5"] for metrics in rounds.metrics)
    assert once > before
    assert twice > before


def test_queries_without_an_answer_in_the_index_are_labelled_all_the_same_and_wrongly(rounds: Rounds) -> None:
    judged = grades()
    relevant = {doc_id for query, of_query in judged.items() for doc_id, grade in of_query.items() if grade == 2}
    kept = sorted(relevant)[::8]
    documents, index = rounds.folder / "few.tsv", rounds.folder / "few"
    documents.write_text("".join("\t".join(row) + "\n" for row in DOCUMENTS if row[0] in kept))
    rows = [line.split("\t") for line in rounds.queries.read_text().splitlines()]
    lost = [row for row in rows if row[2] in judged and not {*judged[row[2]]} & {*kept}]
    queries, pairs = rounds.folder / "lost.tsv", rounds.folder / "lost_pairs.tsv"
    queries.write_text("".join("\t".join(row) + "\n" for row in lost))
    assert len(lost) > 10
    assert forked("index", rounds.output, "--documents", documents, "--index", index).code == 0
    done = forked("label", rounds.output, "--queries", queries, "--index", index, "--output", pairs, "--json")
    assert done.code == 0, done.err
    found = [line.split("\t") for line in pairs.read_text().splitlines()]
    assert len(found) == json.loads(done.out)["queries"]["used"] > 0.5 * len(lost)
    assert not [query for query, text in found if judged[query].get(TEXTS[text], 0)]
