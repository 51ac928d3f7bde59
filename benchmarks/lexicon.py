"""The channel of words that match: learning it, and what it adds to scoring through a SavedModel.

    .venv/bin/python benchmarks/lexicon.py
    .venv/bin/python benchmarks/lexicon.py configs/bible_en_tl.yaml

It learns from every query and its MR documents of a configuration's collection, or from synthetic pairs whose words are
as frequent as Zipf's law has it. The baseline of learning is a quarter of the pairs, and the ratio compares the time
that a pair takes. The baseline of scoring is a model of vectors alone, with the tower of the preset best or that of
the preset paper; it and the same with the channel score in turn, texts of the collection, or of the sample.
"""

import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
import numpy as np
import tensorflow as tf

from models.exported.export import export_ranker
from models.exported.model import load_model
from models.graphs import kept_values
from models.lexicon.learn_lexicon import learn_lexicon
from models.lexicon.lexicon import Lexicon
from models.lexicon.make_channel import make_channel
from models.rankers.ranker import Ranker
from models.rankers.two_towers import TwoTowers, Words
from models.texts.stems import stems
from models.texts.text_features import TextFeatures
from models.texts.tokens import tokenize
from pipeline.config import load_config
from pipeline.input_files import files_of
from schemas.wikiclir import Judgment, Text, parse_judgments, parse_texts

PAIRS, QUERY_STEMS, DOCUMENT_STEMS, VOCABULARY = 15_000, 22, 84, 30_000
LIST_SIZE, WORDS_OF_A_DOCUMENT = 50, 100
BATCHES: Final = (1, 64)
TOWERS: Final = ("best", "paper")
LANGUAGES: Final = ("en", "fr")
SAMPLE: Final = str(Path(__file__).parent.parent / "configs" / "sample.yaml")

Pairs = Sequence[tuple[str, str]]


def synthetic_pairs() -> Pairs:
    """Pairs that share four of five of the query's words, each in its language's own form."""
    random = np.random.default_rng(1)
    frequency = 1 / np.arange(1, VOCABULARY + 1)
    documents = random.choice(VOCABULARY, (PAIRS, DOCUMENT_STEMS), p=frequency / frequency.sum())
    shape = (PAIRS, QUERY_STEMS)
    queries = np.where(random.random(shape) < 0.2, random.integers(VOCABULARY, size=shape), documents[:, :QUERY_STEMS])
    words = [np.array([prefix + _letters(number) for number in range(VOCABULARY)]) for prefix in "qd"]
    return [
        (" ".join(words[0][query]), " ".join(words[1][document]))
        for query, document in zip(queries, documents, strict=True)
    ]


def _letters(number: int) -> str:
    """Four letters, so that a stem holds the whole word."""
    return "".join(chr(ord("a") + number // 26**place % 26) for place in range(4))


def pairs_of(config_path: str) -> Pairs:
    """Every query of a collection with each of its MR documents."""
    data = load_config(config_path).data

    def texts(path: str) -> dict[str, str]:
        found = {}
        for file in files_of(path):
            with open(file, "rb") as stream:
                found |= {one.id: one.text for one in parse_texts(stream, file) if isinstance(one, Text)}
        return found

    queries, documents = texts(data.queries), texts(data.documents)
    pairs = []
    for file in files_of(data.judgments):
        with open(file, "rb") as stream:
            for one in parse_judgments(stream, file, data.top_grade):
                if isinstance(one, Judgment) and one.grade == data.top_grade:
                    pairs.append((queries[one.query_id], documents[one.doc_id]))
    return pairs


def learn(pairs: Pairs) -> tuple[Lexicon, float, float]:
    """The lexicon of pairs, and the seconds and CPU seconds that it took."""
    collection = list(dict.fromkeys(document for _, document in pairs))
    started, used = time.perf_counter(), time.process_time()
    lexicon = learn_lexicon("lexicon", LANGUAGES, 200, pairs, collection)
    return lexicon, time.perf_counter() - started, time.process_time() - used


class _Ids(TextFeatures):
    """Words, and stems if there are some, to ids, as Transform has them."""

    def __init__(self, words: tf.Tensor, of_stems: tf.Tensor | None) -> None:
        super().__init__()
        self._words, self._stems = (
            None
            if keys is None
            else tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, tf.range(len(keys))), -1)
            for keys in (words, of_stems)
        )

    def of_queries(self, texts: tf.Tensor) -> dict[str, Any]:
        return self._features("query", "en", texts)

    def of_documents(self, texts: tf.Tensor) -> dict[str, Any]:
        return self._features("doc", "fr", texts)

    def _features(self, side: str, language: str, texts: tf.Tensor) -> dict[str, Any]:
        words = tokenize(texts)
        features = {f"{side}_tokens": _known(self._words, words)}
        if self._stems:
            features[f"{side}_stems"] = _known(self._stems, stems(words, language))
        return features


def _known(table: Any, words: tf.RaggedTensor) -> tf.RaggedTensor:
    ids = tf.ragged.map_flat_values(table.lookup, words)
    return kept_values(ids, ids.flat_values >= 0)


def exported(tower: str, lexicon: Lexicon, pairs: Pairs, folder: str) -> list[Any]:
    """The scoring signatures of a model without the channel, and of one with it."""
    found = tokenize(tf.constant([text for pair in pairs for text in pair]))
    words, of_stems = tf.unique(found.flat_values)[0], None
    settings = load_config(SAMPLE, [f"preset={tower}"]).model
    if settings.stem_embeddings:
        of_stems = tf.unique(stems(found, "fr").flat_values)[0]
    text_features, sizes = _Ids(words, of_stems), Words(len(words), stems=0 if of_stems is None else len(of_stems))
    towers = TwoTowers(sizes, sizes, settings, seed=1)
    channel = make_channel(lexicon)
    text = tf.constant(["text"])
    towers({**text_features.of_queries(text), **text_features.of_documents(text), "document_index": tf.constant([[0]])})
    models = []
    for name, ranker in (
        ("dense", Ranker({"smooth_cosine": towers})),
        ("both", Ranker({"smooth_cosine": towers, "lexicon": channel}, {"smooth_cosine": 1.0, "lexicon": 0.5})),
    ):
        export_ranker(ranker, text_features, f"{folder}/{name}")
        models.append(load_model(f"{folder}/{name}", "score"))
    return models


def requests(pairs: Pairs, lists: int) -> dict[str, tf.Tensor]:
    """Queries, each with documents of which every list has its own."""
    words = " ".join(document for _, document in pairs).split()
    places = np.arange(lists * LIST_SIZE)[:, np.newaxis] * WORDS_OF_A_DOCUMENT + np.arange(WORDS_OF_A_DOCUMENT)
    documents = [" ".join(row) for row in np.array(words)[places % len(words)]]
    return {
        "query": tf.constant([query for query, _ in pairs[:lists]]),
        "documents": tf.reshape(tf.constant(documents), [lists, LIST_SIZE]),
    }


def cpu_seconds(call: Callable[[], Any], times: int) -> float:
    """What one call takes, over all threads."""
    started = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - started) / times


@click.command()
@click.argument("config_path", metavar="[CONFIG]", type=click.Path(), required=False)
@click.option("--rounds", default=9, show_default=True, type=click.IntRange(min=1), help="Rounds of either model.")
def main(config_path: str | None, rounds: int) -> None:
    """Prints the figures and their ratios."""
    pairs = pairs_of(config_path) if config_path else synthetic_pairs()
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores, {config_path or 'synthetic texts'}")
    quarter, *of_quarter = learn(pairs[: len(pairs) // 4])
    lexicon, *of_all = learn(pairs)
    print(f"{'learning':20} {'pairs':>9} {'terms':>9} {'translations':>13} {'time':>10} {'CPU':>10}")
    for name, count, one, (seconds, used) in (
        ("all", len(pairs), lexicon, of_all),
        ("quarter (baseline)", len(pairs) // 4, quarter, of_quarter),
    ):
        print(f"{name:20} {count:9,} {len(one.terms):9,} {one.translations.nnz:13,} {seconds:8.1f} s {used:8.1f} s")
    ratios = [whole / part / 4 for whole, part in zip(of_all, of_quarter, strict=True)]
    print(f"{'ratio, a pair':20} {'':33} {ratios[0]:8.2f}   {ratios[1]:8.2f}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")
    print(f"{'scoring, CPU':20} {'dense (baseline)':>18} {'with the channel':>18} {'ratio':>7}")
    if config_path is None:
        pairs = pairs_of(SAMPLE)
        lexicon, *_ = learn(pairs)
    for tower, lists in product(TOWERS, BATCHES):
        with tempfile.TemporaryDirectory() as folder:
            models = exported(tower, lexicon, pairs, folder)
            times = max(32 // lists, 1)
            calls = [partial(model.signatures["score"], **requests(pairs, lists)) for model in models]
            for call in calls:
                cpu_seconds(call, 2)  # the first calls optimise the graph
            seen = [[cpu_seconds(call, times) for call in calls] for _ in range(rounds)]
        dense, both = (1000 * statistics.median(column) for column in zip(*seen, strict=True))
        ratio = statistics.median(other / one for one, other in seen)
        print(f"{f'{tower}, {lists} x {LIST_SIZE}':20} {dense:15.1f} ms {both:15.1f} ms {ratio:7.2f}")
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
