"""Files of pre-trained word vectors that are bad as a whole."""

import bz2
import os
import pickle
from typing import Any

import numpy as np

from tests.bad_input.case import AT_ONCE, Case, Make
from tests.bad_input.spoil import all_of, file, setting


def vectors(name: str, content: bytes) -> Make:
    """Names a file of word vectors of width 2 for the documents' language, and writes it."""
    return all_of(file(name, content), setting(f"model: {{embedding_dim: 2}}\nembeddings: {{document: {name}}}\n"))


class _Command:
    """Pickles as a command."""

    def __reduce__(self) -> Any:
        return os.system, ("touch out",)


_PICKLE = pickle.dumps((["loup", "chien"], np.ones((2, 2), np.float32)), 2)

WORD_VECTORS = [
    Case(
        "missing_word_vectors",
        "Word vectors are not there.",
        AT_ONCE,
        setting("embeddings: {document: fr.vec}\n"),
        ("run.yaml:8: embeddings.document: there is no file fr.vec.",),
    ),
    Case(
        "empty_word_vectors",
        "A file of word vectors is empty.",
        AT_ONCE,
        vectors("fr.vec", b""),
        ("run.yaml:9: embeddings.document: fr.vec is empty.",),
    ),
    Case(
        "word_vectors_of_another_width_by_their_header",
        "The first line of word vectors states another width than `model.embedding_dim`.",
        AT_ONCE,
        vectors("fr.vec", b"1 3\nloup 1 2 3\n"),
        ("fr.vec must hold vectors of 2 numbers (model.embedding_dim); its have 3. Set model.embedding_dim to 3",),
    ),
    Case(
        "word_vectors_of_another_width",
        "Word vectors have another width than `model.embedding_dim`, and no first line that states it.",
        AT_ONCE,
        vectors("fr.vec", b"loup 1 2 3\nchien 4 5 6\n"),
        (
            "fr.vec must hold lines of a word and 2 numbers (model.embedding_dim), separated by spaces; its first 2 "
            "hold none: fr.vec:1: wrong number of numbers: loup 1 2 3",
        ),
    ),
    Case(
        "another_file_for_word_vectors",
        "A pickle stands in their place that holds something else.",
        AT_ONCE,
        vectors("polyglot-fr.pkl", pickle.dumps({"loup": [1.0, 2.0]}, 2)),
        ("polyglot-fr.pkl must hold a tuple (words, vectors), as Polyglot's pickles; got dict.",),
    ),
    Case(
        "hostile_pickle",
        "A pickle of word vectors would run a command.",
        AT_ONCE,
        vectors("polyglot-fr.pkl", pickle.dumps((["loup"], _Command()), 2)),
        ("polyglot-fr.pkl must be a Polyglot pickle, which names nothing but", "it names posix.system. Nothing of it"),
    ),
    Case(
        "cut_pickle",
        "A pickle of word vectors is cut off.",
        AT_ONCE,
        vectors("polyglot-fr.pkl", _PICKLE[:-20]),
        ("polyglot-fr.pkl must be a whole Polyglot pickle; it cannot be read", "It may be cut off: bring it again."),
    ),
    Case(
        "cut_archive_of_word_vectors",
        "An archive of word vectors is cut off.",
        AT_ONCE,
        vectors("fr.vec.bz2", bz2.compress(b"loup 1 2\nchien 3 4\n")[:-8]),
        (
            "fr.vec.bz2:3: cannot be read: Compressed file ended before the end-of-stream marker was reached. "
            "Bring the whole file again.",
        ),
    ),
]
