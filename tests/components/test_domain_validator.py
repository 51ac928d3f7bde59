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


def test_what_compares_domains_needs_two_that_are_trained_on(validate):
    needed = {"fewest": 2, "needed_by": "a weight that is held_out"}
    message = "a weight that is held_out needs 2 domains or more that are trained on; got news."
    with pytest.raises(DataError, match=message):
        validate(DOMAINS, held_out=("arts", "health"), **needed)
    validate(DOMAINS, held_out=("arts",), **needed)
    validate(DOMAINS, held_out=("arts", "health"))


def test_a_step_of_all_domains_in_turn_needs_a_list_of_each(validate):
    with pytest.raises(
        DataError, match=r"training\.batch_lists of as many lists as domains are trained on, 3, or more"
    ):
        validate(DOMAINS, most=2)
    validate(DOMAINS, held_out=("arts",), most=2)


def test_held_out_texts_are_those_of_train_lists(validate):
    lacking = {**DOMAINS, "arts": {"train": 0, "eval": 0, "test": 1}}
    with pytest.raises(DataError, match=r"the domain arts is held out, and must have lists in train; it has"):
        validate(lacking, held_out=("arts",), held_out_texts=True)
    validate(lacking, held_out=("arts",))
