"""The characters of Unicode, thinned out where thousands of neighbours are alike."""

import unicodedata
from functools import cache
from typing import Final

_ALIKE: Final = [(0x3400, 0xA000), (0xAC00, 0xD7A4), (0x12000, 0x12400), (0x13000, 0x14700), (0x17000, 0x18D00)]
"""Han, Hangul, cuneiform, hieroglyphs and Tangut."""


def _stands_for_itself(code: int) -> bool:
    is_alike = unicodedata.category(chr(code)) in ("Cn", "Co") or any(low <= code < high for low, high in _ALIKE)
    return code % 64 == 0 or (code < 0x32000 and not is_alike)


@cache
def every_character() -> list[str]:
    """All assigned characters; every 64th of those that are unassigned, private, beyond U+32000, or of a script with
    thousands of characters."""
    return [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and _stands_for_itself(code)]
