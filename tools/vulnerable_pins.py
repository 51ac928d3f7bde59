"""Compares the list of vulnerable pins, locks/vulnerable_pins.yaml, with the locks; `make check` runs it."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

LOCKS = Path(__file__).parents[1] / "locks"
_KEYS = {"package", "version", "advisories", "reason"}


def faults(locks: Path = LOCKS) -> Iterator[str]:
    """Yields a sentence for each entry that is incomplete, or whose pin is in no lock.

    Args:
      locks: the folder of the locks and the list.
    """
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(locks.glob("*.lock")))
    pins = set(re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE))
    for entry in yaml.safe_load((locks / "vulnerable_pins.yaml").read_text(encoding="utf-8")):
        if entry.keys() != _KEYS or not all(entry.values()):
            yield f"an entry must have {', '.join(sorted(_KEYS))}; got {entry}."
        elif (entry["package"], str(entry["version"])) not in pins:
            versions = sorted(version for name, version in pins if name == entry["package"])
            yield (
                f"{entry['package']} must be pinned as {entry['version']}, as its entry says; the locks have "
                f"{', '.join(versions) or 'none'}. Look at {', '.join(entry['advisories'])} again, then change it."
            )


if __name__ == "__main__":
    sys.exit("\n".join(f"locks/vulnerable_pins.yaml: {fault}" for fault in faults()) or 0)
