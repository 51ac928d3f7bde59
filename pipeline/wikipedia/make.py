"""Makes collections from dumps: all files of all pairs appear, or none."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pipeline.identity import code_digest
from pipeline.layout import CONFIG_FILE
from pipeline.machine import check_shared_memory
from pipeline.made_folder import MadeFolder
from pipeline.wikipedia.config import WIKIPEDIA_MADE, WikipediaConfig
from schemas.wikiclir import CANDIDATES_FILE, PAIRS_FILE, documents_file, judgments_file, queries_file
from smooth_clir.wikipedia.collection.build import build_collection
from smooth_clir.wikipedia.collection.read_dumps import read_dumps
from smooth_clir.wikipedia.dumps.files import file_states
from smooth_clir.wikipedia.processes import on_this_machine


def make_collections(
    config: WikipediaConfig, processes: int | None, say: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """Makes the collection of each pair. The caller has locked the output (see `pipeline.output_folder`).

    After a killed call, the next call with the same files and settings continues with the pieces that were read.

    Args:
      config: the configuration.
      processes: the number of processes that read the dumps; None for the number of cores.
      say: called with each line for a person.

    Returns:
      the manifest of each pair, by its name in `config.pairs`.

    Raises:
      DataError: see `read_dumps`; or several processes cannot run here.
    """
    files = config.files()
    apply = on_this_machine((path for paths in files.values() for path in paths), processes)
    if apply is not map:
        check_shared_memory()
    folder = MadeFolder(Path(config.output), WIKIPEDIA_MADE)
    with folder.staging() as staging:
        work = folder.work(_key(config, files))
        dumps = read_dumps(config.languages(), config, files, str(work), apply)
        for line in dumps.notes():
            say(line)
        manifests = {}
        for pair, languages in zip(config.pairs, config.languages(), strict=True):
            pair_folder = staging / folder_of(config, pair)
            pair_folder.mkdir(exist_ok=True)
            manifests[pair] = build_collection(languages, config, dumps, str(pair_folder))
            (pair_folder / CONFIG_FILE).write_text(
                _run_config(languages, config.shards, manifests[pair]["title_pairs"]), encoding="utf-8"
            )
        folder.publish(staging, {"pairs": config.pairs})
    return manifests


def folder_of(config: WikipediaConfig, pair: str) -> str:
    """Returns the folder of a pair in the output; a single pair has the output itself."""
    return "." if len(config.pairs) == 1 else pair.replace("-", "_")


def _key(config: WikipediaConfig, files: Mapping[str, list[str]]) -> str:
    """Returns a digest of what the pieces of dumps depend on: settings, states of the files, and code."""
    settings = config.model_dump(mode="json", exclude={"output"})
    content = json.dumps(
        [settings, file_states(files), code_digest("smooth_clir.wikipedia.collection.read_dumps")], sort_keys=True
    )
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _run_config(languages: tuple[str, str], shards: int, title_pairs: int) -> str:
    """Returns a configuration for `clir run`; its paths are relative to its folder."""
    query_language, document_language = languages
    end = "*" if shards > 1 else ""
    lines = [
        f"queries: {queries_file(query_language)}{end}",
        f"documents: {documents_file(document_language)}{end}",
        f"judgments: {judgments_file(*languages)}{end}",
    ]
    pairs = ""
    if query_language == document_language:
        lines.append(f"candidates: {CANDIDATES_FILE}{end}")
    elif title_pairs:
        pairs = "# No title of a page of eval and test lists is among them, as long as data.split is queries.\n"
        pairs += f"channels:\n  lexicon:\n    pairs: {PAIRS_FILE}\n"
    # Quoted, because YAML reads a bare `no` as false.
    lines += [f'query_language: "{query_language}"', f'document_language: "{document_language}"']
    data = "".join(f"  {line}\n" for line in lines)
    return (
        "# Made by clir wikipedia. Settings that are not given here have their defaults: docs/settings.md.\n"
        f"data:\n{data}{pairs}output: run\n"
    )
