"""Text in a table."""

from components.wikipedia_gen.dumps.sql_values import Value


def sql_text(value: Value) -> str:
    """What a value of a binary column says in UTF-8; empty for NULL.

    Titles were once cut at 255 bytes, perhaps within a character, for which a sign then stands that is in no title.

    Example:
      >>> sql_text(b"caf\\xc3"), sql_text(None)
      ('caf\ufffd', '')
    """
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""
