"""An XML parser that neither expands entities nor fetches anything."""

from typing import Any, NoReturn
from xml.parsers import expat

from schemas.errors import DataError


def safe_parser(path: str) -> expat.XMLParserType:
    """An expat parser of UTF-8 that refuses a document type, and with it every entity but XML's own five.

    A dump has none. Without one nothing can be declared: no entity that unfolds to gigabytes, and none that stands for
    a file of this machine or an address.

    Args:
      path: of the file, for errors.

    Raises:
      DataError: from `Parse`, at a <!DOCTYPE>, or at a declared encoding other than UTF-8.
    """
    parser = expat.ParserCreate("UTF-8")
    parser.buffer_text = True
    parser.buffer_size = 1 << 16

    def refuse(name: str, *_: Any) -> NoReturn:
        place = parser.CurrentByteIndex
        raise DataError(
            f"{path}: a dump has no document type, nor entities of its own; got <!DOCTYPE {name} at byte {place:,}. "
            "Take the file as Wikimedia publishes it."
        )

    def check_encoding(version: str, encoding: str | None, standalone: int) -> None:
        if encoding and encoding.lower() not in ("utf-8", "utf8"):
            raise DataError(
                f"{path}: a dump must be in UTF-8; got {encoding}. Take the file as Wikimedia publishes it."
            )

    parser.StartDoctypeDeclHandler = refuse
    parser.XmlDeclHandler = check_encoding
    return parser
