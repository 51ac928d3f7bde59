"""Our tokens against tf-text's UnicodeScriptTokenizer: graph size, tracing time and words per second.

.venv/bin/python benchmarks/tokens.py
"""

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
import tensorflow_text as tf_text

from models.texts.tokens import tokenize

ROUNDS = 7
DOCUMENTS = Path(__file__).parent.parent / "data" / "sample" / "wiki_fr.documents"


def script_tokenize(texts: tf.Tensor) -> tf.RaggedTensor:
    """The baseline: the same normalisation, then split where the script changes."""
    folded = tf_text.normalize_utf8(tf_text.case_fold_utf8(tf_text.normalize_utf8(texts, "NFKC")), "NFKC")
    return tf_text.UnicodeScriptTokenizer().tokenize(folded)


def measure(function: Callable[[tf.Tensor], tf.RaggedTensor], texts: tf.Tensor) -> tuple[int, float, float]:
    """(ops in the graph, seconds to trace it, words per second)."""
    started = time.perf_counter()
    graph = tf.function(function).get_concrete_function(tf.TensorSpec([None], tf.string))
    traced = time.perf_counter() - started
    graph(texts)
    started = time.perf_counter()
    words = graph(texts).flat_values.shape[0]
    return len(graph.graph.get_operations()), traced, words / (time.perf_counter() - started)


def main() -> None:
    """Prints both, alternating, and their ratios."""
    texts = tf.constant([line.split("\t")[2] for line in DOCUMENTS.read_text(encoding="utf-8").splitlines()] * 20)
    rounds = [(measure(tokenize, texts), measure(script_tokenize, texts)) for _ in range(ROUNDS)]
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {len(texts):,} texts; medians of {ROUNDS} rounds")
    for row, name in enumerate(["models.texts.tokens.tokenize", "UnicodeScriptTokenizer (baseline)"]):
        ops, traced, speed = (statistics.median(one[row][i] for one in rounds) for i in range(3))
        print(f"{name:34} {ops:6,.0f} ops  traced in {traced:6.3f} s  {speed:12,.0f} words/s")
    ratios = [statistics.median(ours[i] / base[i] for ours, base in rounds) for i in range(3)]
    print(f"{'ratio':34} {ratios[0]:6.3f}      {ratios[1]:16.3f}    {ratios[2]:12.2f}")


if __name__ == "__main__":
    main()
