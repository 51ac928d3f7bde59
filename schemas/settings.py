"""The base of all settings: typed, documented, frozen, and closed to unknown keys."""

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


class Settings(BaseModel):
    """One section of a configuration file. A field's docstring is its documentation, with its unit.

    Raises:
      pydantic.ValidationError: at construction, with every fault at once.
    """

    # For the documentation of settings. No other record has its docstrings read: Pydantic looks for a class among all
    # modules that are imported, which took a second of each command once the large libraries were there.
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True, validate_default=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _yes_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Pydantic would read YAML's `yes` as the number 1."""
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation is not bool:
            raise ValueError(
                f"must not be a truth value (YAML reads a bare yes, no, on or off so: quote it); got {value}"
            )
        return value
