"""The stages up to Transform, run on an engine or in this process, and the records that they leave."""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.config_file import load_config
from pipeline.input_files import resolve_digests

LAST = "Transform"
ROLES = {"queries": "wiki_en.queries", "documents": "wiki_fr.documents", "judgments": "en2fr.rel"}
SAMPLE = Path(__file__).parents[2] / "data" / "sample"


def cut_sample(folder: Path, files: int) -> list[str]:
    """Cuts each of the sample's files into this many, and returns overrides of a configuration that names them."""
    overrides = []
    for role, name in ROLES.items():
        lines = (SAMPLE / name).read_bytes().splitlines(keepends=True)
        size = -(-len(lines) // files)
        for number in range(files):
            part = folder / f"{role}-{number}"
            part.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(b"".join(lines[number * size : (number + 1) * size]))
        overrides.append(f"data.{role}={folder}/{role}-{'*' if files > 1 else 0}")
    return overrides


def run_stages(
    folder: Path, overrides: Sequence[str], arguments: Sequence[str], started_workers: Callable[[], int] = lambda: 0
) -> tuple[dict[str, dict[str, str]], dict[str, int]]:
    """Runs the stages.

    Args:
      folder: the folder for all their output.
      overrides: overrides of the sample's configuration.
      arguments: Beam's arguments; none for this process.
      started_workers: returns the number of a stage's workers; called after each stage.

    Returns:
      the folder of each output of each stage, and the workers of each stage.
    """
    from tfx.orchestration import metadata

    from pipeline.launching import launch
    from pipeline.pipeline import create_pipeline

    config = resolve_digests(load_config(str(SAMPLE.parents[1] / "configs" / "sample.yaml"), overrides))
    folder.mkdir(parents=True)
    connection = metadata.sqlite_metadata_connection_config(str(folder / "metadata.sqlite"))
    pipeline = create_pipeline(
        config,
        str(folder / "artifacts"),
        str(folder / "serving"),
        str(folder / "index"),
        metadata_connection_config=connection,
    )
    stages: dict[str, dict[str, str]] = {}
    workers: dict[str, int] = {}
    for end, outputs in launch(pipeline, connection, lambda *_: None, beam_arguments=arguments):
        stages[end.name] = {key: artifact.uri for key, (artifact,) in outputs.items()}
        workers[end.name] = started_workers()
        if end.name == LAST:
            break
    return stages, workers


def records(stages: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """The content that the stages wrote, without the names of files and the order of examples.

    Statistics are TFX's own, whose sums of floats depend on their order.
    """
    return {
        **collection_records(Path(stages["CollectionGen"]["collection"])),
        "report": report(Path(stages["WikiClirExampleGen"]["report"], "report.json")),
        **examples("lists", Path(stages["WikiClirExampleGen"]["examples"])),
        **examples("Transform", Path(stages[LAST]["transformed_examples"])),
        **files("graph", Path(stages[LAST]["transform_graph"]), "*/assets/*"),
        **files("lexicon", Path(stages["LexiconGen"]["lexicon"]), "*"),
        **files("bm25", Path(stages["LexicalBaseline"]["run"]), "*"),
    }


def collection_records(folder: Path) -> dict[str, bytes]:
    """The lines of each role, through its shards, and the ids of those that have some."""
    from schemas.collection import MANIFEST_FILE, parse_manifest

    roles = parse_manifest((folder / MANIFEST_FILE).read_text())
    content = {f"collection/{n}": b"".join((folder / s.name).read_bytes() for s in r.shards) for n, r in roles.items()}
    for name in ("queries", "documents"):
        ids = [folder / shard.ids_name for shard in roles[name].shards]
        content[f"collection/ids of {name}"] = b"".join(path.read_bytes() for path in ids)
    return content


def examples(kind: str, folder: Path) -> dict[str, list[bytes]]:
    """The examples of each split, sorted; Transform leaves the order of an example's features open."""
    import tensorflow as tf

    def canonical(example: bytes) -> bytes:
        return tf.train.Example.FromString(example).SerializeToString(deterministic=True)

    paths = {f"{kind}/{split.name}": sorted(map(str, split.glob("*.gz"))) for split in folder.iterdir()}
    datasets = {name: tf.data.TFRecordDataset(files, "GZIP") for name, files in paths.items()}
    return {name: sorted(map(canonical, dataset.as_numpy_iterator())) for name, dataset in datasets.items()}


def report(path: Path) -> list[Any]:
    """The counts of records that were read, used and dropped, without the names of files."""
    content = json.loads(path.read_text())
    drops = [{drop["reason"]: drop["count"] for drop in file["drops"]} for file in content["files"].values()]
    counts = [[role, file["read"], file["used"]] for role, file in content["files"].items()]
    return [counts, drops, content["lists"], content["pairs"]]


def files(kind: str, folder: Path, pattern: str) -> dict[str, bytes]:
    """The content of files, by name."""
    contents = {f"{kind}/{path.name}": path.read_bytes() for path in folder.glob(pattern) if path.is_file()}
    return {name: gzip.decompress(b) if b[:2] == b"\x1f\x8b" else b for name, b in contents.items()}
