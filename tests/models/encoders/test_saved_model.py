"""models/encoders/saved_model.py: vectors of small SavedModels, and the SavedModels that are refused."""

import os
import re
import shutil

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text as tf_text
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.framework import op_def_registry

from models.encoders.allowed_operations import ALLOWED, can_hold_name, is_allowed
from models.encoders.load_encoder import load_encoder
from models.encoders.settings import SavedModelSettings
from schemas.errors import DataError
from tests.models.encoders.test_use_multilingual import tokenizer

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


def refusal(folder, **settings):
    """The message for a SavedModel, a line with its folder."""
    with pytest.raises(DataError) as error:
        encoder_of(folder, **settings)
    assert str(folder) in str(error.value) and "\n" not in str(error.value)
    return str(error.value)


def encoder_of(folder, **settings):
    return load_encoder(SavedModelSettings(path=str(folder), **settings))


def edit(folder, change):
    """Changes the only graph of a SavedModel."""
    path = folder / "saved_model.pb"
    model = saved_model_pb2.SavedModel.FromString(path.read_bytes())
    change(model.meta_graphs[0])
    path.write_bytes(model.SerializeToString())


def wrapper_of(functions):
    """The function that a signature calls."""
    return next(function for function in functions if "signature_wrapper" in function.signature.name)


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


def test_it_gives_the_vectors_of_the_signature_of_texts_with_their_prefix_and_cut(tmp_path):
    module = Hashed()
    encoder = encoder_of(written(module, tmp_path / "model"), batch=2, query_prefix="query: ", max_characters=7)
    for role, prefix in (("query", "query: "), ("document", "")):
        expected = module.vectors(tf.constant([f"{prefix}{text[:7]}" for text in TEXTS])).numpy()
        np.testing.assert_array_equal(encoder.encode(TEXTS, role), expected)


def test_variables_and_the_file_of_a_string_table_travel_from_save_to_save(looked, tmp_path):
    for times in range(2):
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
    encoded = encoder_of(folder).encode(["abc", "de"], "query")
    assert encoded.dtype == np.float32 and encoded.tolist() == [[3], [2]]


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
    assert re.search("embed; got serving_default", refusal(folder))
    outputs = r"bytes: int32 \(None,\), half: float32 \(None, 1\), length: float32 \(None, 1\)"
    assert re.search(f"channels.encoder.output .*{outputs}", refusal(folder, signature="embed"))
    assert re.search(f"{outputs}; got third", refusal(folder, signature="embed", output="third"))
    assert "bytes: int32 (None,)" in refusal(folder, signature="embed", output="bytes")


TEXTS_AND_LENGTHS = [tf.TensorSpec([None], tf.string, "text"), tf.TensorSpec([None], tf.int32, "length")]


@pytest.mark.parametrize(
    ("specs", "shown"),
    [
        ([tf.TensorSpec([None], tf.int32)], "int32 (None,)"),
        ([tf.TensorSpec([], tf.string)], "string ()"),
        ([tf.TensorSpec([None, 3], tf.string)], "string (None, 3)"),
        ([tf.TensorSpec([8], tf.string)], "string (8,)"),
        (TEXTS_AND_LENGTHS, "length: int32 (None,), text: string (None,)"),
    ],
)
def test_an_input_other_than_a_batch_of_texts_is_refused(specs, shown, tmp_path):
    function = tf.function(lambda *inputs: tf.zeros([2, 2]), input_signature=specs)
    tf.saved_model.save(tf.Module(), str(tmp_path / "model"), signatures=function)
    assert shown in refusal(tmp_path / "model")


@pytest.mark.parametrize("value", [tf.zeros([2]), tf.zeros([2, 2, 2]), tf.zeros([2, 2], tf.int64)], ids=str)
def test_an_output_other_than_vectors_is_refused(value, tmp_path):
    written(Called(lambda texts: value + 0), tmp_path / "model")
    assert f"output_0: {value.dtype.name} {tuple(value.shape)}" in refusal(tmp_path / "model")


# The folder


@pytest.mark.parametrize(
    "make",
    [
        lambda path: None,
        lambda path: path.mkdir(),
        lambda path: path.write_text("model"),
        lambda path: tf.saved_model.save(Hashed(), str(path)),
    ],
    ids=["missing", "empty", "a file", "without signatures"],
)
def test_a_folder_that_is_no_savedmodel_with_a_signature_is_refused(make, tmp_path):
    make(tmp_path / "model")
    refusal(tmp_path / "model")


@pytest.mark.parametrize("part", ["its end", "its graph", "its objects", "variables", "assets"])
def test_a_savedmodel_without_one_of_its_parts_is_refused(looked, part):
    file = looked / "saved_model.pb"
    if part == "its objects":  # as in a SavedModel of TensorFlow 1
        edit(looked, lambda meta_graph: meta_graph.ClearField("object_graph_def"))
    elif part.startswith("its"):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2 if part == "its end" else 0])
    else:
        shutil.rmtree(looked / part)
    refusal(looked)


def test_a_file_of_more_than_two_gibibytes_is_refused_unread(tmp_path):
    (tmp_path / "saved_model.pb").touch()
    os.truncate(tmp_path / "saved_model.pb", 2**31)  # it takes no place on the disk
    assert "2,147,483,648" in refusal(tmp_path)


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/../../../etc/passwd"])
def test_an_asset_outside_of_the_folder_is_refused(looked, name):
    edit(looked, lambda meta_graph: setattr(meta_graph.asset_file_def[0], "filename", name))
    assert repr(name) in refusal(looked)


# The operations


def lengths(texts):
    return tf.cast(tf.strings.length(texts), tf.float32)[:, tf.newaxis]


def in_a_branch(texts):
    read = tf.function(lambda: tf.strings.length(tf.io.read_file(texts[0])))
    return lengths(texts) + tf.cast(tf.cond(tf.size(texts) > 3, read, lambda: 0), tf.float32)


def many_kinds(texts):
    with tf.control_dependencies([tf.print(texts, output_stream="file:///tmp/never")]):
        files = tf.io.matching_files(texts)
    tf.io.write_file("/tmp/never", texts[0])
    tf.raw_ops.SaveV2(prefix=texts[0], tensor_names=["a"], shape_and_slices=[""], tensors=[1.0])
    (restored,) = tf.raw_ops.RestoreV2(prefix=texts[0], tensor_names=["a"], shape_and_slices=[""], dtypes=[tf.float32])
    python = tf.numpy_function(lambda texts: np.float32(1), [files], tf.float32)
    eager_python = tf.py_function(lambda texts: tf.constant(1.0), [files], tf.float32)
    sums = lengths(texts) + tf.reshape(restored + python + eager_python, [1, 1])
    return tf.raw_ops.DebugIdentity(input=sums, debug_urls=["file:///tmp/never"])


def lines(texts):
    return tf.data.TextLineDataset(texts).reduce(lengths(texts), lambda sums, line: sums)


def any_file(texts):
    handle = tf.raw_ops.AnonymousHashTable(key_dtype=tf.string, value_dtype=tf.int64)
    tf.raw_ops.InitializeTableFromTextFileV2(
        table_handle=handle, filename=texts[0], key_index=-2, value_index=-1, vocab_size=-1, delimiter="\t"
    )
    return lengths(texts)


def mapped_file(texts):
    return lengths(texts) + tf.raw_ops.ImmutableConst(dtype=tf.float32, shape=[1], memory_region_name="/etc/passwd")


def quiet_end(texts):
    with tf.control_dependencies([tf.raw_ops.Abort(error_msg="", exit_without_error=True)]):
        return lengths(texts)


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize(
    ("function", "operations"),
    [
        (in_a_branch, "ReadFile"),
        (many_kinds, "DebugIdentity, EagerPyFunc, MatchingFiles, PrintV2, PyFunc, RestoreV2, SaveV2, WriteFile"),
        (lines, "FlatMapDataset, ReduceDataset, TensorSliceDataset, TextLineDataset"),
        (any_file, "InitializeTableFromTextFileV2"),
        (mapped_file, "ImmutableConst"),
        (quiet_end, "Abort"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_the_network_and_python_are_refused_by_name_before_anything_runs(function, operations, tmp_path):
    written(Called(function), tmp_path / "model")
    assert f" {operations}. " in refusal(tmp_path / "model")


@pytest.mark.usefixtures("unloaded")
def test_an_operation_of_another_package_is_refused_by_name_before_anything_runs(tmp_path):
    folder = written(Hashed(), tmp_path / "model")

    def change(meta_graph):
        nodes = (node for function in meta_graph.graph_def.library.function for node in function.node_def)
        next(node for node in nodes if node.op == "StringToHashBucketFast").op = "Addons>HashBucket"

    edit(folder, change)
    assert "Addons>HashBucket" in refusal(folder)


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize("giver", ["a constant", "a call", "a call of a function that it stands for"])
def test_a_table_is_refused_if_something_other_than_an_asset_may_give_it_a_file(looked, giver):
    def change(meta_graph):
        objects, functions = meta_graph.object_graph_def, meta_graph.graph_def.library.function
        reads = next(function for function in functions if any("InitializeT" in node.op for node in function.node_def))
        if giver == "a constant":
            for function in objects.concrete_functions.values():
                for bound in function.bound_inputs:
                    if objects.nodes[bound].WhichOneof("kind") == "asset":
                        objects.nodes[bound].constant.operation = "Const"
        elif giver == "a call":
            call = wrapper_of(functions).node_def.add()
            call.name, call.op = "more", "StatefulPartitionedCall"
            call.input.extend(["texts", "unknown"])
            call.attr["f"].func.name = reads.signature.name
        else:
            reads.attr["api_implements"].s = b"both"

    edit(looked, change)
    assert " InitializeTableFromTextFileV2." in refusal(looked)


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize("kind", ["call", "signature", "attribute"])
def test_the_functions_that_save_and_restore_are_refused_if_the_model_may_call_them(kind, tmp_path):
    folder = written(Hashed(), tmp_path / "model")

    def change(meta_graph):
        functions = meta_graph.graph_def.library.function
        restore = next(function for function in functions if "traced_restore" in function.signature.name)
        if kind == "call":
            call = next(node for node in wrapper_of(functions).node_def if node.op == "StatefulPartitionedCall")
            call.attr["f"].func.name = restore.signature.name
        elif kind == "signature":
            nodes = meta_graph.object_graph_def.nodes
            function = next(node for node in nodes if node.HasField("bare_concrete_function"))
            function.bare_concrete_function.concrete_function_name = restore.signature.name
        else:
            restore.attr["api_implements"].s = b"both"

    edit(folder, change)
    assert " RestoreV2." in refusal(folder)


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize("kind", ["call", "argument of a call", "gradient"])
def test_a_function_outside_of_the_file_and_one_that_saves_are_reached_by_no_detour(kind, tmp_path):
    folder = written(Hashed(), tmp_path / "model")

    def change(meta_graph):
        library = meta_graph.graph_def.library
        call = next(node for node in wrapper_of(library.function).node_def if node.op == "StatefulPartitionedCall")
        restore = next(name for function in library.function if "_restore" in (name := function.signature.name))
        if kind == "call":
            call.attr["f"].func.name = "__inference_of_another_model_7"
        elif kind == "argument of a call":
            call.attr["f"].func.attr["then"].func.name = restore
        else:
            library.registered_gradients.add(gradient_func=restore, registered_op_type="CustomGradient-1")

    edit(folder, change)
    assert ("another_model_7" if kind == "call" else " RestoreV2") in refusal(folder)


@pytest.mark.usefixtures("unloaded")
def test_a_function_with_the_name_of_an_operation_or_of_another_function_hides_nothing(tmp_path):
    read = written(
        Called(lambda texts: lengths(texts) + tf.cast(tf.size(tf.io.read_file("x")), tf.float32)), tmp_path / "1"
    )
    edit(read, lambda meta_graph: setattr(meta_graph.graph_def.library.function.add().signature, "name", "ReadFile"))
    assert "ReadFile" in refusal(read)

    def repeat(meta_graph):
        functions = meta_graph.graph_def.library.function
        functions.add().CopyFrom(functions[0])

    edit(folder := written(Hashed(), tmp_path / "2"), repeat)
    assert "name each function differently" in refusal(folder)


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize("part", ["assets/words", "variables/variables.index", "saved_model.pb"])
def test_a_link_to_a_file_outside_of_the_folder_is_refused(looked, tmp_path, part):
    (looked / part).rename(tmp_path / "secret")
    (looked / part).symlink_to(tmp_path / "secret")
    assert str(tmp_path / "secret") in refusal(looked)


# The list of operations

OPERATIONS = {name: declared for name in dir(tf.raw_ops) if (declared := op_def_registry.get(name))}
WITH_REASON = [name for operations in ALLOWED.values() for name in operations]


def test_each_allowed_operation_with_a_string_that_is_no_choice_has_one_reason():
    with_string = {
        name
        for name, declared in OPERATIONS.items()
        if any("string" in part.type and not part.allowed_values.list.s for part in declared.attr)
        or any(part.type == tf.string.as_datatype_enum for part in declared.input_arg)
    }
    assert {name for name in with_string if is_allowed(name)} <= set(WITH_REASON)
    assert len(WITH_REASON) == len(set(WITH_REASON))
    assert [name for name in WITH_REASON if name in OPERATIONS and not can_hold_name(OPERATIONS[name])] == []


def test_no_allowed_operation_has_a_file_an_address_or_python_or_ends_the_process():
    parts = (
        r"file|path$|logdir|directory|address|debug_(urls|ops)|descriptor_source|_stream$|prefix(es)?$|region|token$"
    )
    names = (
        "^Abort|Barrier|^Batch(Function)?$|Collective|Copy$|Dataset|DebugIdentity|Experimental|Host|Infeed|Iterator|"
        "Mutex|Nccl|Outfeed|^Print|PyFunc|Queue|Reader|Remote|Session|Stage|SummaryWriter|SymbolicGradient|TemporaryVariable|"
        "TPUPartitionedCall|Worker"
    )
    assert not any(map(is_allowed, ("XlaLaunch", "XlaCallModule", "_Send", "_HostRecv", "Addons>HashBucket")))
    allowed = {name: declared for name, declared in OPERATIONS.items() if is_allowed(name)}
    assert [name for name in allowed if re.search(names, name)] == []
    assert [
        name
        for name, declared in allowed.items()
        if any(re.search(parts, part.name) for part in (*declared.input_arg, *declared.attr))
    ] == []


def test_tokenizers_of_bert_and_sentencepiece_a_loop_and_weights_of_four_bits_are_allowed(words, tmp_path):
    bert = tf_text.BertTokenizer(str(words), token_out_type=tf.int32, unknown_token="the")
    sentencepiece = tf_text.SentencepieceTokenizer(tokenizer())
    table = tf.Variable([[0x12], [0x34]], dtype=tf.uint8)

    class Encoder(tf.Module):
        def __init__(self):
            super().__init__()
            self.parts = bert, sentencepiece, table

        def vectors(self, texts):
            rows = tf.minimum(bert.tokenize(texts).merge_dims(1, 2), 1)
            halves = tf.concat([tf.bitwise.right_shift(table, 4), tf.bitwise.bitwise_and(table, 15)], axis=1)
            weights = tf.cast(halves, tf.float32)
            sums = tf.map_fn(
                lambda row: tf.reduce_sum(tf.gather(weights, row), 0), rows, fn_output_signature=tf.float32
            )
            pieces = tf.cast(sentencepiece.tokenize(texts).row_lengths(), tf.float32)
            return tf.reshape(sums, [-1, 2]) + pieces[:, tf.newaxis]

    assert encoder_of(written(Encoder(), tmp_path / "model")).encode(TEXTS, "query").shape == (len(TEXTS), 2)
