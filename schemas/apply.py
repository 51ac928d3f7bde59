"""The type of functions that work as `map` does."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Apply: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Applies a function to each item, as `map` does, possibly in other processes."""
