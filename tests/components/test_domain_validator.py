"""DomainValidator: domains that a run can use are named, and others end the run."""

import json
from itertools import count
from pathlib import Path

import pytest

from schemas.errors import DataError

pytestmark = pytest.mark.stages

DOMAINS = {name: {"train": 3, "eval": 1, "test": 1} for name in ("arts", "health", "news")}


@pytest.fixture
def validate(tmp_path, make_artifact):
    """Validates domains; returns the names in the stage's report."""
    from components.domain_validator import DomainValidator

    numbers = count()

    def validate(domains, **properties):
        folder = tmp_path / str(next(numbers))
        report, written = (make_artifact(kind, folder) for kind in ("IngestionReport", "DomainReport"))
        Path(report.uri, "report.json").write_text(json.dumps({"domains": domains}))
        DomainValidator.test_call(report, written, **properties)
        return json.loads(Path(written.uri, "report.json").read_text())

    return validate


def test_domains_are_trained_on_or_held_out(validate):
    assert validate(DOMAINS, held_out=("health",)) == {"trained": ["arts", "news"], "held_out": ["health"]}
    assert validate(DOMAINS) == {"trained": ["arts", "health", "news"], "held_out": []}


def test_all_faults_end_the_run_together(validate):
    lacking = {**DOMAINS, "arts": {"train": 0, "eval": 1, "test": 1}, "news": {"train": 1, "eval": 0, "test": 1}}
    with pytest.raises(DataError) as raised:
        validate(lacking)
    assert [line.split()[2] for line in str(raised.value).splitlines()] == ["arts", "news"]


@pytest.mark.parametrize(
    ("domains", "needs", "fewer_needs", "message"),
    [
        # What compares domains needs two that are trained on.
        (
            DOMAINS,
            {"held_out": ("arts", "health"), "min_domains": 2, "needed_by": "a weight that is held_out"},
            {"held_out": ("arts",), "min_domains": 2, "needed_by": "a weight that is held_out"},
            "a weight that is held_out .* 2 .* got news",
        ),
        # A step of all domains in turn needs a list of each.
        (DOMAINS, {"max_domains": 2}, {"max_domains": 2, "held_out": ("arts",)}, r"training\.batch_lists .* 3"),
        # Held-out texts are those of train lists.
        (
            {**DOMAINS, "arts": {"train": 0, "eval": 0, "test": 1}},
            {"held_out": ("arts",), "held_out_texts": True},
            {"held_out": ("arts",)},
            "arts .* train",
        ),
    ],
)
def test_what_settings_need_of_the_domains_must_be_there(validate, domains, needs, fewer_needs, message):
    with pytest.raises(DataError, match=message):
        validate(domains, **needs)
    validate(domains, **fewer_needs)
