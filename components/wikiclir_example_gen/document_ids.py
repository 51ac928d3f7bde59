"""What a worker knows of a collection's documents before it reads any."""

from array import array
from bisect import bisect_left
from collections.abc import Sequence

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
        self._hashes = array("Q", np.sort(of_all).tobytes())

    def __contains__(self, doc_id: str) -> bool:
        wanted = int(id_hashes([doc_id.encode()])[0])
        place = bisect_left(self._hashes, wanted)
        return place < len(self._hashes) and self._hashes[place] == wanted
