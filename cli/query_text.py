"""What an option takes for a query."""

import click


def check_query_text(option: str, text: str) -> None:
    """Refuses a text that is no query.

    Raises:
      click.UsageError: it is blank, or no UTF-8: Python reads such bytes of an argument as lone surrogates.
    """
    if not text.strip():
        raise click.UsageError(f"{option} must hold a word; got an empty text.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise click.UsageError(f"{option} must be UTF-8; got {text!r}.") from None
