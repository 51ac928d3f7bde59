"""Files that are not on this machine's disk: what reads and writes them goes through TFX's and TensorFlow's file layer.

TensorFlow's own file system in memory, `ram://`, stands for any that is not local.
"""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from components.pusher.push_version import push_version
from models.exported.versions import model_fingerprint, whole_versions
from models.settings import WordTableSource
from models.texts.tokens import ALL_WORDS
from models.texts.word_table import read_word_table

pytestmark = pytest.mark.stages

MODEL = {"saved_model.pb": "graph", "variables/variables.index": "tables"}


def write(folder: str, files: dict[str, str]) -> str:
    for name, text in files.items():
        tf.io.gfile.makedirs(f"{folder}/{Path(name).parent}".removesuffix("/."))
        with tf.io.gfile.GFile(f"{folder}/{name}", "w") as file:
            file.write(text)
    return folder


def test_a_collection_is_read_from_and_written_to_a_remote_folder() -> None:
    from components.collection_gen.write_collection import write_collection
    from schemas.collection import MANIFEST_FILE, parse_manifest, read_texts
    from schemas.file_system import open_file

    folder = write("ram://remote_collection", {"documents": "d1\tLoup\tvit en meute\nno tabs\nd2\tChien\tgarde\n"})
    roles = write_collection({"documents": [f"{folder}/documents"]}, {}, 2, folder)
    with open_file(f"{folder}/{MANIFEST_FILE}") as manifest:
        assert parse_manifest(manifest.read()) == roles
    (shard,) = roles["documents"].shards
    with open_file(f"{folder}/{shard.name}", "rb") as stream:
        assert [(text.id, text.line) for text in read_texts(stream, shard)] == [("d1", 1), ("d2", 3)]


def test_a_lexicon_is_learned_from_remote_pairs_and_written_to_a_remote_folder() -> None:
    from models.lexicon.lexicon import read_lexicon
    from models.lexicon.write_lexicon import FurtherPairs, PairSource, write_lexicon

    folder = write("ram://remote_lexicon", {"pairs": "wolf\tloup\nno tabs\n"})
    pairs = FurtherPairs([PairSource("pairs", [f"{folder}/pairs"])], 1.0)
    write_lexicon("lexicon", ("en", "fr"), ALL_WORDS, [], pairs, iter([b"loup"]), folder)
    assert (pairs.report().read, pairs.report().used) == (2, 1)
    lexicon = read_lexicon(folder)
    assert (list(lexicon.terms), lexicon.translations.nnz) == ([b"loup", b"wolf"], 1)


def test_word_vectors_are_read_from_a_remote_file() -> None:
    folder = write("ram://remote_vectors", {"fr.vec": "loup 1 2\nchien 3 4\n"})
    source = WordTableSource(path=f"{folder}/fr.vec", sha256="", width=2, most_words=10, max_bad_share=0.0, train=True)
    table = read_word_table(source)
    assert table.words == ["loup", "chien"]
    np.testing.assert_array_equal(table.vectors, [[1, 2], [3, 4]])


def test_models_are_compared_in_remote_folders() -> None:
    contents = (MODEL, MODEL, MODEL | {"saved_model.pb": "Graph"})
    first, same, changed = (write(f"ram://remote_model/{n}", content) for n, content in enumerate(contents))
    assert model_fingerprint(first) == model_fingerprint(same) != model_fingerprint(changed)


# A push to an object store


def test_a_version_in_an_object_store_is_whole_only_when_its_graph_is_there_which_comes_last(monkeypatch) -> None:
    model, serving = write("ram://pushed_model", MODEL), "ram://pushed_serving"
    assert whole_versions(serving) == []  # there is no such folder
    copy, seen = tf.io.gfile.copy, []

    def watched(source: str, target: str) -> None:
        seen.append((Path(source).name, whole_versions(serving)))
        copy(source, target)

    monkeypatch.setattr(tf.io.gfile, "copy", watched)
    version = push_version(model, serving, None, {"MODEL_CARD.md": b"# Card"})
    assert seen == [("variables.index", []), ("saved_model.pb", [])]
    assert whole_versions(serving) == [version]
    assert model_fingerprint(model) == model_fingerprint(f"{serving}/{version}")
    with tf.io.gfile.GFile(f"{serving}/{version}/MODEL_CARD.md") as card:
        assert card.read() == "# Card"


def test_an_unfinished_version_in_an_object_store_does_not_count_and_the_next_push_removes_it() -> None:
    model, serving = write("ram://again_model", MODEL), "ram://again_serving"
    write(f"{serving}/7", MODEL)
    write(f"{serving}/9999999999", {"variables/variables.index": "half"})
    assert whole_versions(serving) == ["7"]
    version = push_version(model, serving, "7", {})
    assert whole_versions(serving) == ["7", version]
    assert not tf.io.gfile.exists(f"{serving}/9999999999")
