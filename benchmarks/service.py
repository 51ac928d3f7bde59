"""Serving over HTTP: the stand-in for TF Serving, and `clir serve`.

    apt-get install hey
    .venv/bin/python benchmarks/service.py runs/sample

One query against 50 documents of 100 words, of a run's own texts, and a search of its index. `hey` asks the stand-in
(REST) and `clir serve` (`/v1/rank` and `/v1/search`), one client after the other and eight at once; server and clients
share the cores. The baseline is the same scoring in this process; what the second channel adds to that,
`benchmarks/lexicon.py` measures.
"""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
import numpy as np

from cli.model_folder import index_place
from models.exported.model import LoadedModel, load_model
from pipeline.config import RunConfig
from pipeline.input_files import files_of
from pipeline.settings_file import read_settings_file
from schemas.drops import Drop
from schemas.wikiclir import parse_texts

DOCUMENTS, WORDS, CLIENTS = 50, 100, (1, 8)
TREE = Path(__file__).parent.parent


def texts_of(path: str) -> Iterator[str]:
    """The texts of a file of queries or documents."""
    for name in files_of(path):
        with open(name, "rb") as stream:
            for one in parse_texts(stream, name):
                if not isinstance(one, Drop):
                    yield one.text


def of_words(path: str) -> list[str]:
    """Documents of a hundred words, of the words of a file's documents one after the other."""
    words = " ".join(text for text, _ in zip(texts_of(path), range(2_000), strict=False)).split()
    return [" ".join(words[place : place + WORDS]) for place in range(0, DOCUMENTS * WORDS, WORDS)]


def milliseconds(work: Callable[[], Any], rounds: int) -> list[float]:
    """How long each of some calls took, after some that are not counted."""
    times = []
    for number in range(rounds + 10):
        started = time.perf_counter()
        work()
        if number >= 10:
            times.append((time.perf_counter() - started) * 1000)
    return times


@contextmanager
def server(*command: str) -> Iterator[str]:
    """Runs a server of ours until the block ends; its first line."""
    process = subprocess.Popen(
        [sys.executable, *command], cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield process.stdout.readline() if process.stdout else ""
    finally:
        process.terminate()
        process.wait()


def load(url: str, body: str, clients: int, requests: int) -> str:
    """What `hey` measures."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(body)
        file.flush()
        command = ["hey", "-n", str(requests), "-c", str(clients), "-m", "POST", "-T", "application/json", "-D"]
        for count in (clients * 10, requests):  # the first is not counted
            command[2] = str(count)
            done = subprocess.run([*command, file.name, "-o", "csv", url], capture_output=True, text=True, check=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    if any(row["status-code"] != "200" for row in rows):
        raise click.ClickException(f"{url}: not every answer was 200: {rows[0]}")
    times = np.array([float(row["response-time"]) for row in rows]) * 1000
    span = max(float(row["offset"]) + float(row["response-time"]) for row in rows)
    return f"{_percentiles(times)}, {len(rows) / span:6.0f} requests a second"


def _percentiles(times: Any) -> str:
    return "p50 {:6.2f} ms, p99 {:6.2f} ms".format(*np.percentile(times, [50, 99]))


@click.command()
@click.argument("output", default="runs/sample")
@click.option("--requests", default=600, show_default=True, type=click.IntRange(min=80))
def main(output: str, requests: int) -> None:
    """Prints a line for each way to ask."""
    if not shutil.which("hey"):
        raise click.ClickException("needs the load generator hey; on Debian: apt-get install hey")
    place = index_place(output, None)
    content, _, _ = read_settings_file(str(place.config), RunConfig)
    query = next(texts_of(content["data"]["queries"]))
    documents = of_words(content["data"]["documents"])
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores; {len(documents)} documents of {WORDS} words")
    model = LoadedModel(load_model(place.newest_model, "encode_document"))
    lists = {"query": np.array([query]), "documents": np.array([documents], object)}
    both = milliseconds(lambda: model.call("score", lists), requests)
    print(f"in process, all channels:  {_percentiles(both)}")
    for clients in CLIENTS:
        body = json.dumps({"signature_name": "score", "inputs": {"query": [query], "documents": [documents]}})
        with server("-m", "tests.stand_in_tf_serving", output) as line:
            port = re.search(r"REST on [^:]+:(\d+)", line)[1]  # type: ignore[index]
            url = f"http://127.0.0.1:{port}/v1/models/clir:predict"
            print(f"stand-in, {clients} clients:       {load(url, body, clients, requests)}")
        with server("-c", "from cli.main import main; main()", "serve", output, "--port", "0") as line:
            for path, asked in (("rank", {"documents": documents}), ("search", {"k": 10})):
                body = json.dumps({"query": query, **asked})
                told = load(f"{line.strip()}v1/{path}", body, clients, requests)
                print(f"clir serve {path}, {clients} clients: {told}", flush=True)


if __name__ == "__main__":
    main()
