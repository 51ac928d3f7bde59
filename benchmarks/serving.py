"""`clir serve` under load: ranking and searching over HTTP, one client and eight at once.

    apt-get install hey
    python -m benchmarks.serving runs/sample

A request ranks 50 documents of 100 words, made of the index's texts, or searches for ten results. The load generator
`hey` shares the cores with the server. The baseline scores the same documents in this process.
"""

import csv
import io
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import click
import numpy as np

from benchmarks.harness import Figures, Harness, benchmark
from benchmarks.search import server

DOCUMENTS, WORDS, CLIENTS = 50, 100, (1, 8)


@click.command()
@click.argument("output", default="runs/sample", type=click.Path(exists=True, path_type=Path))
@click.option("--query", default="molten rock that flows down a mountain", show_default=True)
@click.option("--requests", default=600, show_default=True, type=click.IntRange(min=80))
@benchmark(rounds=3)
def main(harness: Harness, output: Path, query: str, requests: int) -> None:
    """Compare requests to `clir serve` with scoring in this process."""
    if not shutil.which("hey"):
        raise click.ClickException("The load generator hey is missing; on Debian: apt-get install hey")
    output = output.resolve()
    with server(output, output / "index") as (address, _):
        body = json.dumps({"query": query, "k": 100, "texts": True}).encode()
        with urlopen(Request(f"http://{address}/v1/search", body, {"Content-Type": "application/json"})) as answer:
            words = " ".join(result["text"] for result in json.load(answer)["results"]).split()
        words *= DOCUMENTS * WORDS // len(words) + 1
        documents = [" ".join(words[start : start + WORDS]) for start in range(0, DOCUMENTS * WORDS, WORDS)]
        ways = {"in process": in_process(output, query, documents, requests)}
        contents: dict[str, dict[str, Any]] = {
            "rank": {"query": query, "documents": documents},
            "search": {"query": query, "k": 10},
        }
        for path, content in contents.items():
            for clients in CLIENTS:
                ways[f"{path}, {clients} client{'s' if clients > 1 else ''}"] = over_http(
                    f"http://{address}/v1/{path}", content, clients, requests
                )
        harness.compare(f"{DOCUMENTS} documents of {WORDS} words", ways)


def in_process(output: Path, query: str, documents: list[str], requests: int) -> Any:
    """The measure of scoring with the newest exported model of a run."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  (registers the ops of an exported model)

    version = max((output / "serving").iterdir(), key=lambda version: version.name)
    model = tf.saved_model.load(str(version))
    lists = {"query": tf.constant([query]), "documents": tf.constant([documents])}

    def measure() -> Figures:
        times = []
        for _ in range(requests + 10):
            started = time.perf_counter()
            model.signatures["score"](**lists)
            times.append(time.perf_counter() - started)
        return _figures(np.array(times[10:]), sum(times[10:]))

    return measure


def over_http(url: str, content: Mapping[str, Any], clients: int, requests: int) -> Any:
    """The measure of `hey`."""

    def measure() -> Figures:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(content, file)
            file.flush()
            for count in (clients * 10, requests):  # the first count is a warm-up
                command = ["hey", "-n", str(count), "-c", str(clients), "-m", "POST", "-T", "application/json"]
                done = subprocess.run(
                    [*command, "-D", file.name, "-o", "csv", url], capture_output=True, text=True, check=True
                )
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        if any(row["status-code"] != "200" for row in rows):
            raise click.ClickException(f"{url} must answer with status 200; got {rows[0]}")
        times = np.array([float(row["response-time"]) for row in rows])
        span = max(float(row["offset"]) + float(row["response-time"]) for row in rows)
        return _figures(times, span)

    return measure


def _figures(seconds: Any, span: float) -> Figures:
    median, slow = (1000 * np.percentile(seconds, [50, 99])).tolist()
    return {"median ms": median, "99 % ms": slow, "requests/s": len(seconds) / span}


if __name__ == "__main__":
    main()
