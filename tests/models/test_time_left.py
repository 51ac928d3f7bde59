"""models/time_left.py."""

from types import SimpleNamespace

import pytest

from models.time_left import TimeLeft


@pytest.mark.parametrize(("done", "seconds", "left"), [(3, 2, "14 s"), (3, 102, "12 min"), (10, 16, "1 s")])
def test_the_time_left_is_that_of_the_work_left_at_the_pace_so_far(monkeypatch, done, seconds, left):
    times = iter([100, 100 + seconds])
    monkeypatch.setattr("models.time_left.time", SimpleNamespace(monotonic=lambda: next(times)))
    assert TimeLeft(2, 10).after(done) == left
