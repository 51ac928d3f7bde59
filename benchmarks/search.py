"""Indexing and searching generated collections: time, memory, and what approximate search loses.

    python -m benchmarks.search
    python -m benchmarks.search --documents 100000 --baseline ../before --rounds 3
    python -m benchmarks.search --documents 1000000 --feedback 12

Each tree trains a model on 20,000 documents of the same kind. Each round then makes an index with `clir index`, starts
`clir serve` on it, and asks over one connection for the ten best documents, for 200 queries of 10 words and 200 of 20.
Recall is the share of the ten best documents that the search finds, against a search that scores every document.
Without --baseline the smallest collection is the baseline. With --feedback a model without a second pass is the
baseline, compared with a model whose second pass has that gain.
"""

import http.client
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from urllib.parse import quote, urlsplit

import click
import numpy as np

from benchmarks.generated import write_topics
from benchmarks.harness import (
    CLIR,
    TREE,
    Figures,
    Harness,
    baseline_option,
    benchmark,
    disk_bytes,
    environment,
    run_pipeline,
    run_process,
    trees,
)

SIZES = (10_000, 100_000, 1_000_000)
QUERIES, LENGTHS, TOP = 200, (10, 20), 10
_Queries = dict[int, list[str]]


@contextmanager
def server(output: Path, index: Path, tree: Path = TREE) -> Iterator[tuple[str, int]]:
    """Runs `clir serve` on a free port until the block ends; yields its address and its process id."""
    command = [*CLIR, "serve", str(output), "--index", str(index), "--port", "0"]
    with subprocess.Popen(
        command, cwd=tree, env=environment(tree), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            address = process.stdout.readline().strip() if process.stdout else ""
            if not address:
                raise click.ClickException(f"clir serve {output} in {tree} did not start")
            yield urlsplit(address).netloc, process.pid
        finally:
            process.terminate()


def measure(output: Path, index: Path, documents: Path, queries: _Queries, tree: Path) -> Figures:
    """Indexes documents with the model of a run, and searches."""
    made = run_process([*CLIR, "index", str(output), "--documents", str(documents), "--index", str(index)], tree)
    figures = {
        "indexing, s": made.seconds,
        "indexing, CPU s": made.cpu_seconds,
        "indexing, peak GB": made.peak_bytes / 1e9,
        "index, GB": disk_bytes(index) / 1e9,
    }
    started = time.perf_counter()
    with server(output, index, tree) as (address, process_id):
        figures["start of the service, s"] = time.perf_counter() - started
        for length, texts in queries.items():
            median, slow = np.percentile(milliseconds(address, texts), [50, 99])
            figures |= {f"{length} words, median ms": median, f"{length} words, 99 % ms": slow}
        status = Path(f"/proc/{process_id}/status").read_text(encoding="utf-8").splitlines()
        sizes = {line.split(":")[0]: int(line.split()[1]) / 1e6 for line in status if line.endswith("kB")}
    return {**figures, "memory without mapped files, GB": sizes["RssAnon"], "with mapped files, GB": sizes["VmRSS"]}


def milliseconds(address: str, texts: Sequence[str]) -> list[float]:
    """Returns the time of each search, after ten that are not counted."""
    connection, times = http.client.HTTPConnection(address), []
    for text in [*texts[:10], *texts]:
        started = time.perf_counter()
        connection.request("GET", f"/v1/search?q={quote(text)}&k={TOP}")
        answer = connection.getresponse()
        answer.read()
        times.append((time.perf_counter() - started) * 1000)
        if answer.status != 200:
            raise click.ClickException(f"{address} must answer with status 200; got {answer.status}")
    connection.close()
    return times[10:]


def recalls(output: Path, index: Path, queries: Sequence[str]) -> tuple[float, float]:
    """Returns the recall of the score among the ten best, and of the vectors among the hundred best."""
    from models.exported.model import LoadedModel
    from smooth_clir.retrieval.corpus_index import CorpusIndex

    version = max((output / "serving").iterdir(), key=lambda version: version.name)
    model = LoadedModel(str(version))
    opened = CorpusIndex(str(max(index.iterdir(), key=lambda version: version.name)))
    shares: list[tuple[float, float]] = []
    for query in map(model.encode_query, queries):
        vector = query._replace(terms=query.terms[:0], weights=query.weights[:0])
        pairs = (
            (opened.search(query, TOP), opened.search(query, TOP, depth=len(opened))),
            (opened.dense_search(vector, 100), opened.search(vector, 100, depth=len(opened))),
        )
        ids = [[{hit.doc_id for hit in hits} for hits in pair] for pair in pairs]
        shares.append((len(ids[0][0] & ids[0][1]) / TOP, len(ids[1][0] & ids[1][1]) / 100))
    score, vectors = np.mean(shares, axis=0).tolist()
    return score, vectors


@click.command()
@baseline_option
@click.option("--documents", "sizes", multiple=True, default=SIZES, type=click.IntRange(min=200), show_default=True)
@click.option("--feedback", "gain", type=float, help="Compare with a second pass of this gain.")
@benchmark(rounds=1)
def main(harness: Harness, baseline: Path | None, sizes: tuple[int, ...], gain: float | None) -> None:
    """Compare two trees, the two passes, or collections of several sizes."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)

        @cache
        def model(tree: Path, gain: float) -> Path:
            output = work / f"model-{tree == TREE}-{gain:g}"
            settings = [f"feedback.gain={gain}"] if gain else []
            run_pipeline(write_topics(work / "small", 20_000, 8_000), output, *settings, tree=tree)
            return output

        @cache
        def texts(size: int, length: int) -> list[str]:
            write_topics(work / str(size), size, QUERIES, length)
            lines = (work / str(size) / "queries").read_text(encoding="utf-8").splitlines()
            return [line.split("\t")[2] for line in lines]

        def search(size: int, tree: Path, gain: float = 0.0) -> Figures:
            queries = {length: texts(size, length) for length in LENGTHS}
            output = model(tree, gain)
            with tempfile.TemporaryDirectory(dir=work) as folder:
                index = Path(folder) / "index"
                figures = measure(output, index, work / str(size) / "documents", queries, tree)
                if tree == TREE and not baseline and not gain:
                    score, vectors = recalls(output, index, queries[LENGTHS[0]][:50])
                    figures = {**figures, "recall of the score at 10": score, "recall of the vectors at 100": vectors}
            return figures

        if baseline:
            for size in sizes:
                harness.compare(f"{size:,} documents", trees(baseline, partial(search, size)))
        elif gain:
            for size in sizes:
                passes = {"first pass": partial(search, size, TREE), "second pass": partial(search, size, TREE, gain)}
                harness.compare(f"{size:,} documents", passes)
        else:
            harness.compare("documents", {f"{size:,}": partial(search, size, TREE) for size in sizes})


if __name__ == "__main__":
    main()
