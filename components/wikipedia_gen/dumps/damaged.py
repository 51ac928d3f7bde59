"""The error of a dump file that is not what was published."""

from schemas.errors import DataError


def damaged(path: str, what: str) -> DataError:
    """An error to raise: what is wrong, and that the file is to be fetched again.

    Example:
      >>> str(damaged("a.xml.gz", "it ends at byte 7"))
      'a.xml.gz: it ends at byte 7. The file is damaged or incomplete: download it again and compare its checksum.'
    """
    return DataError(f"{path}: {what}. The file is damaged or incomplete: download it again and compare its checksum.")
