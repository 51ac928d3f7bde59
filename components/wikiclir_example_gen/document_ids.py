"""What a worker knows of a collection's documents before it reads any."""

from collections.abc import Iterable, Sequence

import numpy as np

from components.wikiclir_example_gen.collection_file import collection_file
from components.wikiclir_example_gen.id_hashes import id_hashes
from components.wikiclir_example_gen.least_seeded import least_seeded
from components.wikiclir_example_gen.packed_ids import PackedIds
from schemas.collection import Role


class DocumentIds:
    """Which documents there are, and those that NR documents are drawn from.

    Held are eight bytes a document, and the ids of the sample. The chance that an id which is not there has the hash of
    one that is there lies below one in a million million for a collection of ten million documents.

    Args:
      folder: of the collection.
      documents: its documents.
      most: the largest number of documents in the sample; of a smaller collection it has all.
      seed: of the choice of a larger one's.

    Attributes:
      sample: ids, in the order of the files.
    """

    def __init__(self, folder: str, documents: Role, most: int, seed: int) -> None:
        files = []
        for shard in documents.shards:
            with collection_file(folder, shard.ids_name) as stream:
                files.append(PackedIds(stream.read()))
        hashes = [id_hashes(ids.raw()) for ids in files]
        of_all = np.concatenate([np.zeros(0, np.uint64), *hashes])
        if len(of_all) > most:
            kept = least_seeded(of_all, seed, most)
            ends = np.cumsum([len(ids) for ids in files])
            parts = np.split(kept, np.searchsorted(kept, ends[:-1]))
            files = [ids.select(part - end + len(ids)) for ids, part, end in zip(files, parts, ends, strict=True)]
        self.sample: Sequence[str] = PackedIds(b"".join(b"%b\n" % b"\n".join(ids.raw()) for ids in files))
        self._hashes = np.sort(of_all)

    def include(self, doc_ids: Iterable[str]) -> list[bool]:
        """Whether each of some documents is one of the collection's."""
        wanted = id_hashes(doc_id.encode() for doc_id in doc_ids)
        first, end = (np.searchsorted(self._hashes, wanted, side) for side in ("left", "right"))
        found: list[bool] = (end > first).tolist()
        return found
