"""The card of a pushed model."""

from pathlib import Path

import pytest
import yaml

from components.pusher.model_card import model_card
from schemas.cut_texts import CutTexts
from schemas.training_history import Fitted
from tests.components.pusher.card import CUT, DATA, SETTINGS, history, report


def card(settings=SETTINGS, **given) -> str:
    parts = {"cut": CUT, "history": history(), "report": report(), **given}
    return model_card(settings, DATA, **parts, reason="all metrics are above those of random order")


def test_a_card_describes_the_model_its_data_and_its_metrics():
    text = card()
    _, head, body = text.split("---\n", 2)
    assert yaml.safe_load(head)["language"] == ["en", "fr"]
    assert body.startswith("\n# Model card: French documents for English queries\n\nRanks French documents (`fr`) for ")
    assert "plus 0.5 times that of words that match (`lexicon`)" in text
    assert "| `wiki_en.queries` | queries | 1,190 of 1,200 | ab12 |" in text
    assert "700 train, 240 eval, 250 test" in text
    assert "| test split, 250 queries | model | lexicon | random | bm25 | a perfect order |" in text
    assert "| `ndcg_5` | 0.8000 | 0.7000 | 0.1000 | 0.4000 | 1.0000 |" in text
    assert "`ndcg_5`: " in text  # its definition
    assert "The gate: all metrics are above those of random order." in text
    assert "3 epochs over 31,000 query-document pairs; the weights are those of epoch 2" in text


OF_QUERIES = "In the train and eval lists, none of the queries is longer than data.max_document_tokens (200 words)."
OF_DOCUMENTS = (
    "In the train and eval lists, 20.0% of the documents are longer than data.max_document_tokens (200 words): 10.0% "
    "of all words are cut off."
)


def test_a_card_says_of_each_side_what_the_limit_on_words_cuts():
    text = card()
    data, limits = (text.split(f"\n## {title}\n")[1].split("\n## ")[0] for title in ("Data", "Limits"))
    assert data.endswith(f"\n\n{OF_QUERIES}\n\n{OF_DOCUMENTS}\n")
    assert "cut off" not in limits


@pytest.mark.parametrize("side", ["queries", "documents"])
def test_a_side_that_loses_more_than_a_tenth_of_its_words_is_a_limit_with_its_remedy(side):
    much = CutTexts(texts=300, cut_texts=60, words=80_000, cut_words=8_001)
    (_, _, limits) = card(cut=CUT.model_copy(update={side: much})).partition("\n## Limits\n")
    assert (
        f"- More than a tenth of the {side}' words is cut off: raise `data.max_document_tokens`, and train again."
        in limits.splitlines()
    )


def test_a_card_says_nothing_where_no_words_were_counted():
    text = card(cut=None)
    assert "data.max_document_tokens" not in text and "In the train and eval lists" not in text


def test_a_card_shows_the_numbers_of_each_channel_as_they_were_fitted():
    channel = {"kind": "cl_lsi", "weight": 0.25, "settings": {"dim": "fitted"}}
    settings = {**SETTINGS, "channels": {"lsi": channel}}
    fitted = {"lexicon.weight": Fitted(value=0.3, curve=[]), "lsi.dim": Fitted(value=200, curve=[])}
    assert (
        "plus 0.3 times that of words that match (`lexicon`) plus 0.25 times the channel `lsi` (`cl_lsi`, dim 200)."
        in card(settings, history=history(fitted=fitted))
    )


def test_a_card_holds_no_folder_of_its_makers():
    assert "/home" not in card() and "secret" not in card()
    assert "\noutput:" not in card()


def test_a_name_can_end_neither_a_cell_nor_code():
    (row,) = (line for line in card().splitlines() if " documents | 300" in line)
    assert row.count("|") == 5 and row.count("`") == 2


def test_it_says_that_new_documents_were_not_measured_where_they_were_not():
    assert "how it ranks new ones was not measured" in card()
    both = card(report=report(seen=150, cold=100))
    assert "how it ranks new ones was not measured" not in both
    assert "Of 60% of these queries training has seen the MR document" in both
    assert "| these, 150 queries |" in both and "| the others, 100 queries |" in both


def test_a_card_names_a_search_s_values_and_a_preset_s_limit():
    assert 'Found by a search on the eval split: `{"model.epsilon": 0.5}`.' in card(
        history=history({"model.epsilon": 0.5})
    )
    assert "documents that are new to it rank too low" not in card()
    assert "documents that are new to it rank too low" in card({**SETTINGS, "preset": "closed"})


def test_the_settings_stand_in_it_as_they_are_given_in_a_file():
    import yaml

    block = card().split("```yaml\n")[1].split("```")[0]
    assert yaml.safe_load(block) == SETTINGS
    assert yaml.safe_load(block)["data"]["queries"] == Path(DATA["files"]["queries"]["path"]).name
