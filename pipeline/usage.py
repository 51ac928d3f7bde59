"""What a run uses of the machine."""

import re
import resource
from pathlib import Path


def cpu_seconds() -> float:
    """CPU seconds of this process and of those that it started and that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_memory() -> int:
    """The most memory that this process, or one that it started, has held: bytes."""
    return max(_own_peak(), 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def _own_peak() -> int:
    # ru_maxrss begins with what the process held that started this one: a notebook's gigabytes, say.
    status = Path("/proc/self/status")
    held = re.search(r"^VmHWM:\s+(\d+) kB$", status.read_text(), re.MULTILINE) if status.exists() else None
    return 1024 * (int(held[1]) if held else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
