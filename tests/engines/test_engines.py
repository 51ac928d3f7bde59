"""Every Beam stage on a portable job server with two worker processes: the records of the in-process run."""

import os

import pytest

pytestmark = pytest.mark.long

CUT = ["data.max_queries=60", "data.negatives=5", "data.shards=3", "data.vocabulary_size=2000"]
"""A part of the sample: enough for every stage, and so little that the workers' start takes most of the time."""
WORKERS = 2
ON_WORKERS = {"CollectionGen", "WikiClirExampleGen", "LexicalBaseline", "LexiconGen", "StatisticsGen", "Transform"}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    from tests.engines.engine import engine

    with engine(tmp_path_factory.mktemp("engine")) as running:
        yield running


def process_of(item: int) -> tuple[int, int]:
    return item, os.getpid()


def test_work_is_shared_among_two_worker_processes(engine, tmp_path):
    from functools import partial

    import apache_beam as beam

    from components.on_workers import OnWorkers

    on_workers = OnWorkers(partial(beam.Pipeline, argv=engine.arguments), str(tmp_path / ".work"))
    results = list(on_workers(process_of, range(20)))
    assert [item for item, _ in results] == list(range(20))
    processes = {process for _, process in results}
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
    pair = make(tmp_path, wikis, apply=on_workers, queries="sentences")
    for name in MADE:
        assert (pair.folder / name).read_bytes() == (SAMPLE / name).read_bytes()


def test_every_stage_writes_the_records_of_the_in_process_run(engine, tmp_path):
    from tests.engines.staged import cut_sample, records, run_stages

    whole, cut = (cut_sample(tmp_path / f"inputs-{files}", files) for files in (1, 4))
    stages, _ = run_stages(tmp_path / "in-process", [*whole, *CUT, f"output={tmp_path}/a"], [])
    expected = records(stages)
    assert expected["lists/Split-train"] and expected["Transform/Split-train"] and expected["lexicon/lexicon.tsv"]
    engine.started_workers()
    overrides = [*cut, *CUT, f"output={tmp_path}/b"]
    stages, workers = run_stages(tmp_path / "engine", overrides, engine.arguments, engine.started_workers)
    assert {stage for stage, count in workers.items() if count >= WORKERS} >= ON_WORKERS
    results = records(stages)
    assert results.keys() == expected.keys()
    assert [name for name in expected if results[name] != expected[name]] == []
