"""The eval lists whose texts go with a pushed model."""

from collections.abc import Iterable, Iterator, Mapping

import tensorflow as tf

from schemas import features as f
from schemas.domains import DomainFilter


def eval_lists(examples: Iterable[str], domains: DomainFilter) -> Iterator[Mapping[str, tf.train.Feature]]:
    """Yields the columns of each list.

    Args:
      examples: paths of gzipped TFRecords of listwise Examples, as texts.
      domains: the domains whose lists are read: whoever has the model sees their texts.
    """
    for record in tf.data.TFRecordDataset(sorted(examples), "GZIP").as_numpy_iterator():
        columns = tf.train.Example.FromString(record).features.feature
        if domains.keeps(next(iter(columns[f.QUERY_DOMAIN].bytes_list.value), b"")):
            yield columns
