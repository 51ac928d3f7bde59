"""Every Beam stage on a portable job server with two worker processes: the records of the in-process run."""

import os

import pytest

pytestmark = pytest.mark.stages

CUT = ["data.max_queries=60", "data.negatives=5", "data.shards=3", "model.vocabulary_size=2000"]
"""A part of the sample: enough for every stage, and so little that the workers' start takes most of the time."""
MIB = 1 << 20
WORKERS = 2
ON_WORKERS = ("CollectionGen", "WikiClirExampleGen", "LexicalBaseline", "LexiconGen", "StatisticsGen", "Transform")


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    from tests.engines.engine import engine

    with engine(tmp_path_factory.mktemp("engine")) as running:
        yield running


def process_of(item: int) -> tuple[int, int]:
    return item, os.getpid()


@pytest.mark.parametrize("pool", ["tests.engines.pool", "apache_beam.runners.worker.worker_pool_main"])
def test_work_is_shared_among_the_two_worker_processes_of_the_pool(tmp_path, pool):
    from functools import partial

    import apache_beam as beam

    from components.on_workers import OnWorkers
    from tests.engines.engine import engine

    with engine(tmp_path, pool) as running:
        on_workers = OnWorkers(partial(beam.Pipeline, argv=running.arguments), str(tmp_path / ".work"))
        found = list(on_workers(process_of, range(20)))
    assert [item for item, _ in found] == list(range(20))
    processes = {process for _, process in found}
    assert len(processes) == 2 and os.getpid() not in processes


def test_a_collection_that_is_made_of_dumps_is_the_same_on_the_engine(engine, tmp_path):
    from functools import partial

    import apache_beam as beam

    from components.on_workers import OnWorkers
    from tests.sample.test_sample import MADE, SAMPLE
    from tests.wikipedia.small_wiki import make

    on_workers = OnWorkers(partial(beam.Pipeline, argv=engine.arguments), str(tmp_path / ".work"))
    wikis = {
        language: {
            "pages": str(next(SAMPLE.glob(f"{language}wiki-*-pages-articles.xml.bz2"))),
            "language_links": str(next(SAMPLE.glob(f"{language}wiki-*-langlinks.sql.gz"))),
        }
        for language in ("en", "fr")
    }
    made = make(tmp_path, wikis, apply=on_workers, queries="sentences")
    for name in MADE:
        assert (made.folder / name).read_bytes() == (SAMPLE / name).read_bytes()


@pytest.mark.long
def test_every_stage_writes_the_records_of_the_in_process_run_from_one_file_and_from_four(engine, tmp_path):
    from tests.engines.staged import cut_sample, records, run_stages

    inputs = {files: cut_sample(tmp_path / f"inputs-{files}", files) for files in (1, 4)}
    stages, _ = run_stages(tmp_path / "in-process", [*inputs[1], *CUT, f"output={tmp_path}/a"], [])
    expected = records(stages)
    assert expected["lists/Split-train"] and expected["Transform/Split-train"] and expected["lexicon/lexicon.tsv"]
    for files, of_files in inputs.items():
        engine.take_peaks()
        stages, peaks = run_stages(
            tmp_path / f"engine-{files}",
            [*of_files, *CUT, f"output={tmp_path}/b{files}"],
            engine.arguments,
            engine.take_peaks,
        )
        print(
            f"{files} files:",
            {name: [one // MIB for one in some] for name, some in peaks.items() if some},
            "MiB a worker",
        )
        assert all(len(peaks[stage]) >= WORKERS for stage in ON_WORKERS), peaks
        got = records(stages)
        assert got.keys() == expected.keys()
        assert [name for name in expected if got[name] != expected[name]] == []


@pytest.mark.long
def test_a_worker_s_memory_does_not_hold_the_collection(engine, tmp_path):
    import apache_beam as beam

    from components.wikiclir_example_gen.ingest import ingest
    from components.wikiclir_example_gen.lists import IngestSettings
    from schemas.splits import SPLITS
    from tests.components.collected import collect

    peaks = {}
    sizes = {}
    for documents in (2_000, 60_000):
        folder = tmp_path / str(documents)
        contents = generated(documents)
        sizes[documents] = sum(map(len, contents["documents"]))
        roles = collect(folder / "collection", contents)
        del contents
        engine.take_peaks()
        with beam.Pipeline(argv=engine.arguments) as pipeline:
            ingest(
                pipeline,
                IngestSettings(negatives=10, seed=1, max_queries=None, top_grade=2, shards=2),
                str(folder / "collection"),
                roles,
                {split: str(folder / split / "data") for split in SPLITS},
                str(folder / "report.json"),
            )
        of_workers = engine.take_peaks()
        assert len(of_workers) == WORKERS
        peaks[documents] = max(of_workers)
    small, large = sizes
    more, growth = sizes[large] - sizes[small], peaks[large] - peaks[small]
    print(f"{more // MIB} MiB more documents, peaks {[peak // MIB for peak in peaks.values()]} MiB")
    assert more > 250 * MIB
    # A reader holds one shard's needed texts and ids, and nothing of other shards but eight bytes and an id a document.
    assert growth < more / 8


def generated(documents: int) -> dict[str, list[bytes]]:
    """A collection in four files of documents, each of 5,000 bytes, for 100 queries."""
    text = "un texte " * 550
    rows = [f"d{number}\tTitre\t{text} {number}\n".encode() for number in range(documents)]
    return {
        "queries": [b"".join(b"q%d\tTitle\ta text\n" % number for number in range(100))],
        "documents": [b"".join(rows[first::4]) for first in range(4)],
        "judgments": [b"".join(b"q%d\td%d\t2\n" % (number, number) for number in range(100))],
    }
