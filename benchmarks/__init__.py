"""Benchmarks of this project, each run as `python -m benchmarks.NAME`; see docs/machines.md."""
