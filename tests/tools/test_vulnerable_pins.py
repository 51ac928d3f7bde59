"""The list of vulnerable pins."""

import shutil
from pathlib import Path

from tools.vulnerable_pins import LOCKS, faults


def test_each_vulnerable_pin_has_a_reason_and_is_in_a_lock_still(tmp_path: Path) -> None:
    assert not [*faults()]
    locks = tmp_path / "locks"
    shutil.copytree(LOCKS, locks)
    for path in locks.glob("2.15*.lock"):
        path.write_text(path.read_text().replace("httplib2==0.22.0", "httplib2==0.31.0"))
    listed = locks / "vulnerable_pins.yaml"
    listed.write_text(f"{listed.read_text()}- {{package: a, version: '1', advisories: [CVE-1], reason: ''}}\n")
    moved, unreasoned = faults(locks)
    assert "httplib2" in moved and "0.31.0" in moved and "CVE-2026-59939" in moved
    assert "reason" in unreasoned
