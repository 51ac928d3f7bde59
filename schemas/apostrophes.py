"""The apostrophe in all its forms, for everything that takes texts apart into words."""

from typing import Final

APOSTROPHE_LETTERS: Final = (
    "\u02b9\u02ba\u02bb\u02bc\u02bd\u02be\u02bf\u02c8\u02ca\u02cb\u02ee\u0559\u07f4\u07f5\ua78b\ua78c"
)
"""Characters that Unicode counts as letters, where others write an apostrophe: об\u02bcєкт, Hawai\u02bbi, Qur\u02bean.
Source: the Unicode Standard, section 7.8, Modifier Letters; the apostrophes of N'Ko; the saltillo."""

APOSTROPHES: Final = "'`\u00b4\u2018\u2019\u201b\u2032\u2035\uff07\uff40\u055a" + APOSTROPHE_LETTERS
"""The same with those that are punctuation or symbols."""
