"""What a process does that is to be ended; it imports little, for each process begins with that."""

import os
import time


def sleep_long(number: int) -> int:
    """Says that this process lives, and sleeps for ten minutes."""
    os.write(1, f"{os.getpid()}\n".encode())  # in one call, because two processes write
    time.sleep(600)
    return number
