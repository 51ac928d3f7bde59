"""The stage DomainValidator: whether the domains of a collection have the lists that a run needs of them."""

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
    fewest: int = 1,
    needed_by: str = "",
    most: int | None = None,
) -> None:
    """Refuses a collection with domains that cannot be trained on, or that cannot be held out.

    Args:
      report: the report of ingestion, with the lists of each domain.
      domain_report: the names of the domains that are trained on and of those held out, as JSON.
      held_out: the domains that are held out.
      held_out_texts: whether the texts of their train lists are read.
      fewest, needed_by, most: see `TrainedDomains`.

    Raises:
      DataError: with a sentence for each fault, see `check_lists`.
    """
    domains = parse_json(read_text(report, REPORT_FILE))[_DOMAINS]
    faults = check_lists(domains, held_out, held_out_texts)
    trained = [name for name in domains if name not in held_out]
    if trained and (fault := TrainedDomains(fewest, needed_by, most).fault(trained)):
        faults.append(f"{fault}.")
    if faults:
        raise DataError("\n".join(faults))
    names = {"trained": trained, "held_out": held_out}
    write_text(domain_report, REPORT_FILE, json.dumps(names, indent=2, ensure_ascii=False) + "\n")
