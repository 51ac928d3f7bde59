"""The stage WikipediaGen: makes queries, documents and judgments from the dumps of two wikis."""

import hashlib
import json
import logging

from tfx.dsl.io import fileio

from components.stage import Apply, Identity, Output, stage
from models.unfinished_work import unfinished_work
from schemas.artifacts import WikiClirFiles
from smooth_clir.wikipedia.collection.build import build_collection
from smooth_clir.wikipedia.collection.look import preflight
from smooth_clir.wikipedia.collection.read_dumps import read_dumps
from smooth_clir.wikipedia.dumps.files import check_digests, file_states
from smooth_clir.wikipedia.processes import on_this_machine
from smooth_clir.wikipedia.settings import WikipediaSettings

log = logging.getLogger("clir.data")


@stage
def WikipediaGen(
    wikiclir_files: Output[WikiClirFiles],
    apply: Apply,
    identity: Identity,
    files: dict[str, list[str]],
    digests: dict[str, str],
    languages: tuple[str, str],
    settings: WikipediaSettings,
    unfinished: str,
) -> None:
    """Makes queries, documents and judgments from the dumps of two wikis.

    Reads the dumps piece by piece, and joins the pieces. After a kill the next execution continues with the pieces.

    Args:
      wikiclir_files: the files, a manifest and a data card.
      apply: shares the pieces among workers.
      identity: the digest of the stage's code.
      files: key of an input (see `WikipediaSettings.inputs`) to its files.
      digests: key to the digest that `input_digest` makes of its files; other content is refused.
      languages: the query and the document language.
      settings: see `WikipediaSettings`.
      unfinished: folder of the pieces that a killed execution has read; removed at the end.

    Raises:
      DataError: see `preflight`, `read_dumps` and `check_digests`.
    """
    folder = wikiclir_files.uri
    paths = [path for input_files in files.values() for path in input_files]
    if apply is map:
        apply = on_this_machine(paths)
        if not any("://" in path for path in (folder, *paths)):
            preflight([languages], settings, files, folder, log.info)
    # The pieces depend only on these values.
    decisive = [identity, files, file_states(files), digests, languages, settings.model_dump(mode="json")]
    work, _ = unfinished_work(unfinished, hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest())
    fileio.makedirs(work)
    dumps = read_dumps([languages], settings, files, work, apply)
    check_digests(dumps.files, digests)
    build_collection(languages, settings, dumps, folder)
    fileio.rmtree(unfinished)
