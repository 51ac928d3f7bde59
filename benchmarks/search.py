"""Indexing a generated collection, and searching it: time, memory, and what approximate search loses.

    .venv/bin/python benchmarks/search.py
    .venv/bin/python benchmarks/search.py --documents 10000 --documents 100000

A model of the preset best is trained on 20,000 documents of the same kind. Then `clir index` indexes each number of
documents in a process of its own, and another process searches: queries of 10 and of 20 words, both channels and their
fused score. The baseline of recall is every document compared; that of time is the smallest index.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
import numpy as np
from topics import Topics

TREE = Path(__file__).parent.parent
SIZES = (10_000, 100_000, 1_000_000)
TRAINED_ON, QUERIES, LENGTHS, DEPTH = (20_000, 8_000), 200, (10, 20), 100


def run(*command: str) -> tuple[float, float]:
    """Runs a command of ours: seconds, and the most memory that it held, in MB."""
    started = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", "from cli.main import main; main()", *command], cwd=TREE)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise click.ClickException(f"{' '.join(command)} ended with {status}")
    return time.monotonic() - started, usage.ru_maxrss / 1024


def measure(output: str, index: str, queries: list[list[str]]) -> dict[str, Any]:
    """What searching an index takes; in this process."""
    from models.retrieval.corpus_index import CorpusIndex
    from serving.newest_engine import FolderEngines

    engines = FolderEngines(f"{output}/serving", index)
    started = time.monotonic()
    engine = engines.load(str(engines.newest()))
    engine.warm()
    figures: dict[str, Any] = {"load_s": time.monotonic() - started}
    searcher = engine._searcher
    opened: CorpusIndex = searcher.index
    for length, texts in zip(LENGTHS, queries, strict=True):
        times = []
        for text in texts:
            started = time.perf_counter()
            searcher.search(text, 10)
            times.append((time.perf_counter() - started) * 1000)
        figures[f"p50_{length}_ms"], figures[f"p99_{length}_ms"] = np.percentile(times, [50, 99])
    encoded = [searcher._encoder.encode(text) for text in queries[0][:50]]
    recalls = []
    for query in encoded:
        everything = np.concatenate([segment.vectors @ query.vector for segment in opened._segments])
        least = np.partition(everything, -DEPTH)[-DEPTH]
        recalls.append(np.mean([one.dense >= least - 1e-6 for one in opened.dense_search(query, DEPTH)]))
    figures["dense_recall"] = float(np.mean(recalls))
    figures["words_recall"] = words_recall(searcher, queries[0][:20])
    figures |= {"resident_MB": memory("VmRSS"), "own_MB": memory("RssAnon")}
    return figures


def words_recall(searcher: Any, texts: list[str]) -> float:
    """The share of the best documents by words that are found: those of the signature `score`, over a sample of all."""
    index, shares = searcher.index, []
    generator = np.random.default_rng(0)
    for text in texts:
        found = index.words_search(searcher._encoder.encode(text), DEPTH)
        least = found[-1].words if len(found) >= DEPTH else 0.0
        kept = {(one.segment, one.row) for one in found}
        places = generator.integers(0, len(index._segments), 500)
        rows = [int(generator.integers(0, len(index._segments[place]))) for place in places]
        some = [*kept, *zip(places.tolist(), rows, strict=True)]
        documents = np.array([[index.document(*place).text for place in some]], object)
        scores = searcher._model.call("score", {"query": np.array([text]), "documents": documents})
        weight = searcher._encoder._words_weight
        words = weight * scores[str(searcher._model.call("words_channel", {})["name"].item().decode())][0]
        missed = [one for one, score in zip(some, words, strict=True) if score > least + 1e-4 and one not in kept]
        shares.append(1 - len(missed) / max(len(kept), 1))
    return float(np.mean(shares))


def memory(kind: str) -> float:
    """What this process holds, in MB: VmRSS with the files that are mapped, RssAnon without."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(kind))


@click.command()
@click.option("--documents", "sizes", multiple=True, default=SIZES, type=click.IntRange(min=200), show_default=True)
@click.option("--folder", type=click.Path(path_type=Path), help="Keep the model and the indexes here.")
@click.option("--measured", hidden=True, nargs=3, type=str)
def main(sizes: tuple[int, ...], folder: Path | None, measured: tuple[str, str, str] | None) -> None:
    """Prints a line for each size."""
    if measured:
        print(json.dumps(measure(measured[0], measured[1], json.loads(measured[2]))))
        return
    with tempfile.TemporaryDirectory() as temporary:
        work = (folder or Path(temporary)).absolute()
        topics = Topics()
        output = work / "small" / "out"
        if not output.is_dir():
            topics.write(work / "small", *TRAINED_ON)
            run("run", str(work / "small" / "run.yaml"))
        print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
        for size in sizes:
            collection, index = work / str(size), work / f"index-{size}"
            queries = []
            for length in LENGTHS:
                topics.write(collection, size, QUERIES, length)
                lines = (collection / "queries").read_text(encoding="utf-8").splitlines()
                queries.append([line.split("\t")[2] for line in lines])
            seconds, peak = run("index", str(output), "--documents", f"{collection}/documents", "--index", str(index))
            done = subprocess.run(
                [sys.executable, __file__, "--measured", str(output), str(index), json.dumps(queries)],
                cwd=TREE, env={**os.environ, "PYTHONPATH": str(TREE)}, stdout=subprocess.PIPE, text=True, check=True,
            )  # fmt: skip
            figures = json.loads(done.stdout.splitlines()[-1])
            disk = sum(file.stat().st_size for file in index.rglob("*") if file.is_file()) / 1e6
            print(f"{size:,} documents: indexed in {seconds:.0f} s, peak {peak:,.0f} MB, {disk:,.0f} MB on disk")
            print("  " + ", ".join(f"{name} {value:,.3f}" for name, value in figures.items()), flush=True)


if __name__ == "__main__":
    main()
