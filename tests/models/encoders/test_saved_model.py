"""models/encoders/saved_model.py: vectors of small SavedModels, and the SavedModels that are refused."""

import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text as tf_text
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.framework import op_def_registry

from models.encoders import saved_model as subject
from models.encoders.saved_model import SavedModelEncoder
from models.encoders.settings import EncoderSettings
from schemas.errors import DataError

pytestmark = pytest.mark.stages

TEXTS = ["a river of molten rock", "Fluss", "река 河 🌋", "fluss fluss", "the"]
ANY_BATCH = tf.TensorSpec([None], tf.string)


class Hashed(tf.Module):
    """The sum of the rows of an embedding table, by the hashes of the words."""

    def __init__(self):
        super().__init__()
        self.table = tf.Variable(np.random.default_rng(1).normal(size=(50, 4)).astype(np.float32))

    def vectors(self, texts):
        rows = tf.ragged.map_flat_values(tf.strings.to_hash_bucket_fast, tf.strings.split(texts), 50)
        return tf.reduce_sum(tf.ragged.map_flat_values(tf.gather, self.table, rows), axis=1)


class Looked(tf.Module):
    """The rows of an embedding table, by the text's line in a file."""

    def __init__(self, words):
        super().__init__()
        lines = tf.lookup.TextFileInitializer(
            str(words), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
        )
        self.lines = tf.lookup.StaticHashTable(lines, 2)
        self.table = tf.Variable([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])

    def vectors(self, texts):
        return tf.gather(self.table, self.lines.lookup(texts))


class Called(tf.Module):
    """One function of texts."""

    def __init__(self, function):
        super().__init__()
        self.vectors = function


def written(module, folder, spec=ANY_BATCH, name="serving_default", **signatures):
    """Writes a SavedModel whose signature is the module's function of vectors."""
    function = tf.function(module.vectors, input_signature=[spec])
    tf.saved_model.save(module, str(folder), signatures={name: function, **signatures})
    return folder


def refused(function, folder):
    """The message for a SavedModel of one function."""
    written(Called(function), folder)
    return refusal(folder)


def refusal(folder, **given):
    with pytest.raises(DataError) as error:
        encoder_of(folder, **given)
    assert str(folder) in str(error.value) and "\n" not in str(error.value)
    return str(error.value)


def encoder_of(folder, **given):
    return SavedModelEncoder(EncoderSettings(kind="saved_model", path=str(folder), **given))


def edit(folder, change):
    """Changes the only graph of a SavedModel."""
    path = folder / "saved_model.pb"
    model = saved_model_pb2.SavedModel.FromString(path.read_bytes())
    change(model.meta_graphs[0])
    path.write_bytes(model.SerializeToString())


def nodes_of(meta_graph, operation):
    return [node for one in meta_graph.graph_def.library.function for node in one.node_def if node.op == operation]


def written_again(encoder, folder):
    """Writes a module that holds the encoder, as an exported model does."""
    holder = Called(lambda texts: encoder.vectors(texts, "query"))
    holder.encoder = encoder
    return written(holder, folder)


@pytest.fixture
def words(tmp_path):
    (tmp_path / "words").write_text("the\nFluss\n", encoding="utf-8")
    return tmp_path / "words"


@pytest.fixture
def looked(words, tmp_path):
    """A SavedModel with a table that is read from an asset."""
    written(Looked(words), tmp_path / "looked")
    words.unlink()
    return tmp_path / "looked"


@pytest.fixture
def unloaded(monkeypatch):
    """Fails if anything is loaded."""
    monkeypatch.setattr(tf.saved_model, "load", lambda path: pytest.fail("it was loaded"))


# The vectors


def test_it_gives_the_vectors_of_the_signature(tmp_path):
    module = Hashed()
    encoder = encoder_of(written(module, tmp_path / "model"), batch=2)
    expected = module.vectors(tf.constant(TEXTS)).numpy()
    np.testing.assert_array_equal(encoder.encode(TEXTS, "query"), expected)
    np.testing.assert_array_equal(encoder.encode(TEXTS, "document"), expected)


def test_prefixes_and_the_limit_come_before_the_signature(tmp_path):
    module = Hashed()
    encoder = encoder_of(written(module, tmp_path / "model"), query_prefix="query: ", max_characters=7)
    expected = module.vectors(tf.constant(["query: a river"])).numpy()
    np.testing.assert_array_equal(encoder.encode(TEXTS[:1], "query"), expected)


def test_a_part_of_a_saved_module_gives_equal_vectors_without_the_first_folder(tmp_path):
    encoder = encoder_of(written(Hashed(), tmp_path / "model"), query_prefix="query: ")
    expected = encoder.encode(TEXTS, "query")
    written_again(encoder, tmp_path / "again")
    shutil.rmtree(tmp_path / "model")
    loaded = tf.saved_model.load(str(tmp_path / "again"))
    np.testing.assert_array_equal(loaded.signatures["serving_default"](tf.constant(TEXTS))["output_0"], expected)


def test_the_file_of_a_string_table_travels_from_save_to_save(looked, tmp_path):
    for times in range(3):
        encoder = encoder_of(looked)
        assert encoder.encode(TEXTS, "query").tolist() == [[3, 3], [0, 2], [3, 3], [3, 3], [1, 0]]
        again = written_again(encoder, tmp_path / f"again_{times}")
        shutil.rmtree(looked)
        looked = again


def test_half_precision_and_no_known_shape_become_float32_of_two_dimensions(tmp_path):
    def vectors(texts):
        lengths = tf.cast(tf.strings.length(texts), tf.float16)
        return tf.reshape(lengths, tf.concat([tf.shape(texts), [1]], 0))

    folder = written(Called(vectors), tmp_path / "model", spec=tf.TensorSpec(None, tf.string))
    found = encoder_of(folder).encode(["abc", "de"], "query")
    assert found.dtype == np.float32 and found.tolist() == [[3], [2]]


def test_operations_of_tensorflow_text_are_known(tmp_path):
    def vectors(texts):
        words = tf_text.WhitespaceTokenizer().tokenize(tf_text.case_fold_utf8(texts))
        grams = tf_text.ngrams(words, 1, reduction_type=tf_text.Reduction.STRING_JOIN)
        return tf.cast(grams.row_lengths(), tf.float32)[:, tf.newaxis]

    encoder = encoder_of(written(Called(vectors), tmp_path / "model"))
    assert encoder.encode(["a b", "c"], "query").tolist() == [[2], [1]]


# The signature


def test_another_signature_and_output_are_found_by_name(tmp_path):
    def vectors(texts):
        length = tf.cast(tf.strings.length(texts), tf.float32)[:, tf.newaxis]
        return {"length": length, "half": length / 2, "bytes": tf.strings.length(texts)}

    folder = written(Called(vectors), tmp_path / "model", name="embed")
    assert encoder_of(folder, signature="embed", output="half").encode(["abcd"], "query").tolist() == [[2]]
    assert "signature of the SavedModel" in refusal(folder) and "got serving_default, and it has embed." in refusal(
        folder
    )
    assert "encoder.output must be given" in (several := refusal(folder, signature="embed"))
    assert several.endswith("it has bytes: int32 (None,), half: float32 (None, 1), length: float32 (None, 1).")
    assert "must name an output" in refusal(folder, signature="embed", output="third")
    assert refusal(folder, signature="embed", output="bytes").endswith("float [batch, dim]; got bytes: int32 (None,).")


def test_a_savedmodel_without_signatures_is_refused(tmp_path):
    tf.saved_model.save(Hashed(), str(tmp_path / "model"))
    assert "and it has none." in refusal(tmp_path / "model")


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        (tf.TensorSpec([None], tf.int32), r"int32 \(None,\)"),
        (tf.TensorSpec([], tf.string), r"string \(\)"),
        (tf.TensorSpec([None, 3], tf.string), r"string \(None, 3\)"),
        (tf.TensorSpec([8], tf.string), r"string \(8,\)"),
    ],
    ids=str,
)
def test_an_input_other_than_a_batch_of_texts_is_refused(spec, shown, tmp_path):
    written(Called(lambda texts: tf.zeros([2, 2])), tmp_path / "model", spec=spec)
    assert re.search(rf"must have one input, texts: string \[batch\].* got \w+: {shown}", refusal(tmp_path / "model"))


def test_two_inputs_are_refused_with_their_names(tmp_path):
    module = tf.Module()
    specs = [tf.TensorSpec([None], tf.string, "text"), tf.TensorSpec([None], tf.int32, "length")]
    two = tf.function(lambda text, length: tf.zeros([2, 2]), input_signature=specs)
    tf.saved_model.save(module, str(tmp_path / "model"), signatures=two)
    assert "got length: int32 (None,), text: string (None,)." in refusal(tmp_path / "model")


@pytest.mark.parametrize(
    "value", [tf.zeros([2]), tf.zeros([2, 2, 2]), tf.zeros([2, 2], tf.int64)], ids=["1", "3", "int"]
)
def test_an_output_other_than_vectors_is_refused(value, tmp_path):
    written(Called(lambda texts: value + 0), tmp_path / "model")
    assert "must be float [batch, dim]; got output_0: " in refusal(tmp_path / "model")


# The folder


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir(), lambda path: path.write_text("model")])
def test_a_folder_that_is_no_savedmodel_is_refused(make, tmp_path):
    make(tmp_path / "model")
    assert "must be the folder of a SavedModel" in refusal(tmp_path / "model")


def test_a_broken_file_is_refused(tmp_path):
    folder = written(Hashed(), tmp_path / "model")
    whole = (folder / "saved_model.pb").read_bytes()
    (folder / "saved_model.pb").write_bytes(whole[: len(whole) // 2])
    assert "cannot be parsed" in refusal(folder)
    (folder / "saved_model.pb").write_bytes(b"")
    assert "got 0 graphs" in refusal(folder)


def test_a_file_of_more_than_two_gibibytes_is_refused_unread(tmp_path):
    (tmp_path / "saved_model.pb").touch()
    os.truncate(tmp_path / "saved_model.pb", 2**31)  # it takes no place on the disk
    assert "must have at most 2,147,483,647 bytes; got 2,147,483,648." in refusal(tmp_path)


def test_a_savedmodel_of_tensorflow_1_is_refused(tmp_path):
    folder = written(Hashed(), tmp_path / "model")
    edit(folder, lambda meta_graph: meta_graph.ClearField("object_graph_def"))
    assert "must be a SavedModel of TensorFlow 2" in refusal(folder)


def test_a_savedmodel_without_its_variables_is_refused(tmp_path):
    folder = written(Hashed(), tmp_path / "model")
    shutil.rmtree(folder / "variables")
    assert "must be whole; it cannot be loaded: " in refusal(folder)


def test_a_savedmodel_without_its_asset_is_refused(looked):
    shutil.rmtree(looked / "assets")
    assert "must be whole; it cannot be loaded: " in refusal(looked)


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/../../../etc/passwd"])
def test_an_asset_outside_of_the_folder_is_refused(looked, name):
    edit(looked, lambda meta_graph: setattr(meta_graph.asset_file_def[0], "filename", name))
    assert f"must lie in its folder; got {name!r}." in refusal(looked)


# The operations


def lengths(texts):
    return tf.cast(tf.strings.length(texts), tf.float32)[:, tf.newaxis]


def in_a_branch(texts):
    read = tf.function(lambda: tf.strings.length(tf.io.read_file(texts[0])))
    return lengths(texts) + tf.cast(tf.cond(tf.size(texts) > 3, read, lambda: 0), tf.float32)


def in_a_loop(texts):
    def body(count, sums):
        tf.io.write_file("/tmp/never", texts[0])
        return count + 1, sums

    return tf.while_loop(lambda count, _: count < 3, body, (0, lengths(texts)))[1]


def of_python(texts):
    return tf.ensure_shape(tf.numpy_function(lambda one: np.ones((2, 2), np.float32), [texts], tf.float32), [None, 2])


def of_eager_python(texts):
    return tf.ensure_shape(tf.py_function(lengths, [texts], tf.float32), [None, 1])


def printing(texts):
    tf.print(texts, output_stream="file:///tmp/never")
    return lengths(texts)


def saving(texts):
    tf.raw_ops.SaveV2(prefix=texts[0], tensor_names=["a"], shape_and_slices=[""], tensors=[1.0])
    return lengths(texts)


def restoring(texts):
    return tf.raw_ops.RestoreV2(prefix=texts[0], tensor_names=["a"], shape_and_slices=[""], dtypes=[tf.float32])[0] + [
        [1.0]
    ]


def of_lines(texts):
    return tf.data.TextLineDataset(texts).reduce(lengths(texts), lambda sums, line: sums)


def of_a_file_of_any_name(texts):
    handle = tf.raw_ops.AnonymousHashTable(key_dtype=tf.string, value_dtype=tf.int64)
    tf.raw_ops.InitializeTableFromTextFileV2(
        table_handle=handle, filename=texts[0], key_index=-2, value_index=-1, vocab_size=-1, delimiter="\t"
    )
    return lengths(texts)


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize(
    ("function", "operations"),
    [
        (in_a_branch, "ReadFile"),
        (in_a_loop, "WriteFile"),
        (lambda texts: lengths(tf.io.matching_files(texts)), "MatchingFiles"),
        (of_python, "PyFunc"),
        (of_eager_python, "EagerPyFunc"),
        (printing, "PrintV2"),
        (saving, "SaveV2"),
        (restoring, "RestoreV2"),
        (of_lines, "FlatMapDataset, ReduceDataset, TensorSliceDataset, TextLineDataset"),
        (of_a_file_of_any_name, "InitializeTableFromTextFileV2"),
        (
            lambda texts: tf.raw_ops.DebugIdentity(input=lengths(texts), debug_urls=["file:///tmp/never"]),
            "DebugIdentity",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_the_network_and_python_are_refused_by_name_before_anything_runs(function, operations, tmp_path):
    assert f"the network or Python; got the operations {operations}. " in refused(function, tmp_path / "model")


@pytest.mark.usefixtures("unloaded")
def test_an_operation_of_another_package_is_refused_by_name_before_anything_runs(tmp_path):
    folder = written(Hashed(), tmp_path / "model")

    def change(meta_graph):
        nodes_of(meta_graph, "StringToHashBucketFast")[0].op = "Addons>HashBucket"

    edit(folder, change)
    assert "those of tensorflow-text; got Addons>HashBucket. Export it without" in refusal(folder)


@pytest.mark.usefixtures("unloaded")
def test_a_table_whose_file_is_no_asset_is_refused(looked):
    def change(meta_graph):
        objects = meta_graph.object_graph_def
        for one in objects.concrete_functions.values():
            kinds = [objects.nodes[place].WhichOneof("kind") for place in one.bound_inputs]
            if "asset" in kinds:
                asset = one.bound_inputs[kinds.index("asset")]
                objects.nodes[asset].constant.operation = "Const"

    edit(looked, change)
    assert "got the operations InitializeTableFromTextFileV2." in refusal(looked)


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize("attribute", [False, True], ids=["its own call", "a call of a function that it stands for"])
def test_a_table_is_refused_if_another_function_may_give_it_a_file(looked, attribute):
    def change(meta_graph):
        functions = meta_graph.graph_def.library.function
        reads = next(one for one in functions if any(node.op.startswith("InitializeTable") for node in one.node_def))
        if attribute:
            reads.attr["api_implements"].s = b"both"
        else:
            call = next(one for one in functions if "signature_wrapper" in one.signature.name).node_def.add()
            call.name, call.op = "more", "StatefulPartitionedCall"
            call.input.extend(["texts", "unknown"])
            call.attr["f"].func.name = reads.signature.name

    edit(looked, change)
    assert "got the operations InitializeTableFromTextFileV2." in refusal(looked)


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize("kind", ["call", "signature", "attribute"])
def test_the_functions_that_save_and_restore_are_refused_if_the_model_may_call_them(kind, tmp_path):
    folder = written(Hashed(), tmp_path / "model")

    def change(meta_graph):
        functions = meta_graph.graph_def.library.function
        restore = next(one for one in functions if "traced_restore" in one.signature.name)
        if kind == "call":
            wrapper = next(one for one in functions if "signature_wrapper" in one.signature.name)
            call = next(node for node in wrapper.node_def if node.op == "StatefulPartitionedCall")
            call.attr["f"].func.name = restore.signature.name
        elif kind == "signature":
            function = next(one for one in meta_graph.object_graph_def.nodes if one.HasField("bare_concrete_function"))
            function.bare_concrete_function.concrete_function_name = restore.signature.name
        else:
            restore.attr["api_implements"].s = b"both"

    edit(folder, change)
    assert "got the operations RestoreV2." in refusal(folder)


def test_every_operation_of_tensorflow_with_a_file_or_an_address_is_refused():
    words = r"file|path$|logdir|directory|address|debug_(urls|ops)|descriptor_source|^output_stream|prefix(es)?$"
    missed = [
        name
        for name in subject._names(tf.raw_ops)
        if (operation := op_def_registry.get(name))
        and any(re.search(words, part.name) for part in (*operation.input_arg, *operation.attr))
        and not subject._REFUSED.search(name)
    ]
    assert missed == []


@pytest.mark.stages
def test_the_operations_of_tensorflow_text_are_those_that_its_import_registers():
    script = (
        "from tensorflow.python.client import pywrap_tf_session as session\n"
        "from tensorflow.core.framework import op_def_pb2\n"
        "def names():\n"
        "    data = session.TF_GetBuffer(session.TF_GetAllOpList())\n"
        "    return {one.name for one in op_def_pb2.OpList.FromString(data).op}\n"
        "import tensorflow\n"
        "before = names()\n"
        "import tensorflow_text\n"
        "print(*(names() - before))\n"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    registered = {name.replace(">", "_") for name in output.split()}
    assert len(registered) > 30
    assert {name for name in subject._tf_text_operations() if name[0].isupper()} == registered
