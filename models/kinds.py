"""Settings of parts whose class is imported on first use. Importing this file does not import TensorFlow."""

from collections.abc import Iterator
from importlib import import_module
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import Field

from schemas.settings import KindSettings

# Counts are below 2**31, because TensorFlow's indices are int32. Positive numbers lie within 1e-12 .. 1e12, so that
# float32 holds the product of any three, and its inverse.

Count: TypeAlias = Annotated[int, Field(strict=True, ge=1, le=65_536)]
Scale: TypeAlias = Annotated[float, Field(ge=1e-12, le=1e12)]
Share: TypeAlias = Annotated[float, Field(ge=0, le=0.999)]


class Implemented(KindSettings):
    """Settings of a kind whose class is imported on first use.

    Attributes:
      implementation: dotted name of the class.
    """

    implementation: ClassVar[str]

    def modules(self) -> Iterator[str]:
        """Yields the module of the class, part of the identity of the stages that use it."""
        yield self.implementation.rpartition(".")[0]

    @classmethod
    def load(cls) -> Any:
        """Imports the class."""
        module, _, name = cls.implementation.rpartition(".")
        return getattr(import_module(module), name)
