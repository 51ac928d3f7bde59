"""Whether two exported models are the same, byte for byte."""

from models.exported.versions import file_digests


def same_files(one: str, other: str) -> bool:
    """Whether two folders hold the same files with the same content, but for what a push adds to a model."""
    return file_digests(one) == file_digests(other)
