"""Settings of the data."""

import pytest
from pydantic import ValidationError

from components.wikiclir_example_gen.settings import DataSettings

DATA = {
    "queries": "wiki_en.queries",
    "documents": "wiki_fr.documents",
    "judgments": "en2fr.rel",
    "query_language": "en",
    "document_language": "fr",
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"document_language": "xx"}, "must be an ISO 639-1 code .* got 'xx'"),
        ({"judgments": "wiki_en.queries"}, "must be different files"),
        ({"candidates": "en2fr.rel"}, "must be different files"),
        ({"negatives": 0}, "greater than or equal to 1"),
        ({"test_negatives": 0}, "greater than or equal to 1"),
        ({"test_negatives": 9, "candidates": "en2fr.candidates"}, "must be null with data.candidates.* got 9"),
        ({"query_words": 0}, "greater than or equal to 1"),
        ({"query_words": -3}, "greater than or equal to 1"),
        ({"max_queries": 0}, "greater than or equal to 1"),
        ({"seed": -1}, "greater than or equal to 0"),
        ({"split": "documents", "candidates": "en2fr.candidates"}, "must be queries with data.candidates"),
        ({"cold_share": 0.95}, "less than or equal to 0.9"),
        ({"max_bad_share": 1.5}, "less than or equal to 1"),
        ({"sha256": {"titles": "00"}}, "Extra inputs are not permitted"),
    ],
)
def test_impossible_settings_are_refused(changes, message):
    with pytest.raises(ValidationError, match=message):
        DataSettings(**{**DATA, **changes})
