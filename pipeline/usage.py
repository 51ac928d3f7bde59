"""The CPU time and memory of this process and its children."""

import re
import resource
from pathlib import Path


def cpu_seconds() -> float:
    """CPU seconds of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_memory() -> int:
    """Peak memory of this process or of one of its children, in bytes."""
    return max(_own_peak(), 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def _own_peak() -> int:
    # ru_maxrss begins with the memory of the parent process, such as a notebook's gigabytes.
    status = Path("/proc/self/status")
    held = re.search(r"^VmHWM:\s+(\d+) kB$", status.read_text(), re.MULTILINE) if status.exists() else None
    return 1024 * (int(held[1]) if held else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
