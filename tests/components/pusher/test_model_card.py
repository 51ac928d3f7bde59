"""The card of a pushed model."""

from pathlib import Path

import pytest
import yaml

from components.pusher.model_card import model_card
from schemas.cut_texts import CutTexts
from schemas.training_history import Fitted
from tests.components.pusher.card import CUT, DATA, SETTINGS, history, report


def card(settings=SETTINGS, **parts) -> str:
    parts = {"cut": CUT, "history": history(), "report": report(), **parts}
    return model_card(settings, DATA, **parts, reason="all metrics are above those of random order")


def test_a_card_describes_the_model_its_data_and_its_metrics_and_holds_no_folder_of_its_makers():
    text = card()
    _, head, body = text.split("---\n", 2)
    assert yaml.safe_load(head)["language"] == ["en", "fr"]
    assert body.startswith("\n# Model card: French documents for English queries\n\nRanks French documents (`fr`) for ")
    for part in (
        "plus 0.5 times that of words that match (`lexicon`)",
        "| `wiki_en.queries` | queries | 1,190 of 1,200 | ab12 |",
        "700 train, 240 eval, 250 test",
        "| test split, 250 queries | model | lexicon | random | bm25 | a perfect order |",
        "| `ndcg_5` | 0.8000 | 0.7000 | 0.1000 | 0.4000 | 1.0000 |",
        "`ndcg_5`: ",  # its definition
        "The gate: all metrics are above those of random order.",
        "3 epochs over 31,000 query-document pairs; the weights are those of epoch 2",
    ):
        assert part in text
    assert not any(part in text for part in ("/home", "secret", "\noutput:"))
    (row,) = (line for line in text.splitlines() if " documents | 300" in line)
    assert row.count("|") == 5 and row.count("`") == 2  # a name ends neither a cell nor code
    settings = yaml.safe_load(text.split("```yaml\n")[1].split("```")[0])
    assert settings == SETTINGS
    assert settings["data"]["queries"] == Path(DATA["files"]["queries"]["path"]).name


def part_of(text, title):
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_a_card_says_of_each_side_what_the_limit_on_words_cuts():
    text = card()
    *_, query_sentence, document_sentence = part_of(text, "Data").strip().split("\n\n")
    assert "none of the queries" in query_sentence and "data.max_document_tokens (200 words)" in query_sentence
    assert "20.0% of the documents" in document_sentence and ": 10.0%" in document_sentence
    assert "cut off" not in part_of(text, "Limits")
    assert "data.max_document_tokens" not in card(cut=None)


@pytest.mark.parametrize("side", ["queries", "documents"])
def test_a_side_that_loses_more_than_a_tenth_of_its_words_is_a_limit_with_its_remedy(side):
    much = CutTexts(texts=300, cut_texts=60, words=80_000, cut_words=8_001)
    limits = part_of(card(cut=CUT.model_copy(update={side: much})), "Limits").splitlines()
    assert [line for line in limits if f"of the {side}'" in line and "`data.max_document_tokens`" in line]


def test_a_card_shows_the_numbers_of_each_channel_as_they_were_fitted_or_searched():
    channel = {"kind": "cl_lsi", "weight": 0.25, "dim": "fitted"}
    settings = {**SETTINGS, "channels": {**SETTINGS["channels"], "lsi": channel}}
    fitted = {"lexicon.weight": Fitted(value=0.3, curve=[]), "lsi.dim": Fitted(value=200, curve=[])}
    text = card(settings, history=history(fitted=fitted))
    assert "plus 0.3 times that of words that match (`lexicon`)" in text
    assert "plus 0.25 times the channel `lsi` (`cl_lsi`, dim 200)." in text
    assert "second pass" not in text.split("```yaml")[0]
    settings = {**SETTINGS, "feedback": {"gain": "fitted", "documents": 3}}
    text = card(settings, history=history(fitted={"feedback.gain": Fitted(value=12, curve=[])}))
    assert "plus in a second pass (pseudo-relevance feedback) 12 times " in text and "the best 3." in text
    assert '`{"channels.towers.epsilon": 0.5}`' in card(history=history({"channels.towers.epsilon": 0.5}))


def test_it_says_where_new_documents_were_not_measured_or_rank_too_low():
    assert "how it ranks new ones was not measured" in card()
    both = card(report=report(seen=150, cold=100))
    assert "how it ranks new ones was not measured" not in both
    assert "For 60% of these queries, training has seen the MR document" in both
    assert "| MR document seen, 150 queries |" in both and "| MR document not seen, 100 queries |" in both
    assert "documents that are new to it rank too low" not in card()
    assert "documents that are new to it rank too low" in card({**SETTINGS, "preset": "closed"})
