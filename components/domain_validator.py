"""The stage DomainValidator: checks that the domains of a collection have the lists that a run needs."""

import json
from typing import Final

from components.artifact_files import read_text, write_text
from components.stage import Input, Output, stage
from schemas.artifacts import DomainReport, IngestionReport
from schemas.domains import TrainedDomains, check_lists
from schemas.drops import REPORT_FILE
from schemas.errors import DataError
from schemas.json_files import parse_json

_DOMAINS: Final = "domains"


@stage
def DomainValidator(
    report: Input[IngestionReport],
    domain_report: Output[DomainReport],
    held_out: tuple[str, ...] = (),
    held_out_texts: bool = False,
    min_domains: int = 1,
    needed_by: str = "",
    max_domains: int | None = None,
) -> None:
    """Refuses a collection with domains that cannot be trained on or cannot be held out.

    Args:
      report: the report of ingestion, with the lists of each domain.
      domain_report: the names of the trained and of the held-out domains, as JSON.
      held_out: the domains that are held out.
      held_out_texts: whether the texts of their train lists are read.
      min_domains, needed_by, max_domains: see `TrainedDomains`.

    Raises:
      DataError: the domains have faults; a sentence for each, see `check_lists`.
    """
    domains = parse_json(read_text(report, REPORT_FILE))[_DOMAINS]
    faults = check_lists(domains, held_out, held_out_texts)
    trained = [name for name in domains if name not in held_out]
    if trained and (fault := TrainedDomains(min_domains, needed_by, max_domains).fault(trained)):
        faults.append(f"{fault}.")
    if faults:
        raise DataError("\n".join(faults))
    names = {"trained": trained, "held_out": held_out}
    write_text(domain_report, REPORT_FILE, json.dumps(names, indent=2, ensure_ascii=False) + "\n")
