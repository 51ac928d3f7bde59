"""The numbers that Bai et al. published for Polynomial Semantic Indexing (2009, Tables 1 to 4 and 6), beside ours."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from smooth_clir.experiments.experiment import Row
from smooth_clir.experiments.report.markdown import NOTHING, paragraph, table
from smooth_clir.experiments.report.names import baseline_name

_COLUMNS: Final = ("rank loss", "MAP", "P@10")

PSI_2, PSI_3 = "PSI (k = 2)", "PSI (k = 3)"
"""Rows of ours by the degree of their encoder; the others are baselines."""


class PublishedPsi(NamedTuple):
    """A line of one of the paper's tables, as printed."""

    name: str
    """The algorithm's name in the paper."""
    ours: str
    """A baseline of ours, `PSI_2` or `PSI_3`."""
    rank_loss: float
    """In per cent."""
    map: float
    p_10: float


PUBLISHED_PSI: Final[dict[str, tuple[PublishedPsi, ...]]] = {
    "1": (
        PublishedPsi("TFIDF", "tfidf", 1.62, 0.329, 0.163),
        PublishedPsi("QE", "query_expansion", 1.62, 0.330, 0.163),
        PublishedPsi("LSI", "lsi", 4.79, 0.158, 0.098),
        PublishedPsi("αLSI + (1 − α)TFIDF", "lsi_mixed", 1.28, 0.346, 0.170),
        PublishedPsi("Margin Ranking Perceptron", "perceptron", 0.41, 0.477, 0.212),
        PublishedPsi("PSI (k = 2)", PSI_2, 0.30, 0.517, 0.229),
        PublishedPsi("PSI (k = 3)", PSI_3, 0.14, 0.539, 0.236),
    ),
    "2": (
        PublishedPsi("TFIDF", "tfidf", 0.842, 0.432, 0.1933),
        PublishedPsi("QE", "query_expansion", 0.842, 0.432, 0.1933),
        PublishedPsi("αLSI + (1 − α)TFIDF", "lsi_mixed", 0.721, 0.433, 0.193),
        PublishedPsi("Hash Kernels", "hash_kernel", 0.347, 0.485, 0.215),
        PublishedPsi("PSI (k = 2)", PSI_2, 0.158, 0.547, 0.239),
        PublishedPsi("PSI (k = 3)", PSI_3, 0.099, 0.590, 0.249),
    ),
    "3, partitioned links": (PublishedPsi("PSI (k = 2)", PSI_2, 0.407, 0.506, 0.225),),
    "3, partitioned docs+links": (PublishedPsi("PSI (k = 2)", PSI_2, 0.401, 0.503, 0.225),),
    "4, n = 5": (
        PublishedPsi("TFIDF", "tfidf", 21.6, 0.047, 0.023),
        PublishedPsi("αLSI + (1 − α)TFIDF", "lsi_mixed", 14.2, 0.049, 0.023),
        PublishedPsi("PSI (k = 2)", PSI_2, 4.37, 0.166, 0.083),
    ),
    "4, n = 10": (
        PublishedPsi("TFIDF", "tfidf", 14.0, 0.083, 0.035),
        PublishedPsi("αLSI + (1 − α)TFIDF", "lsi_mixed", 9.73, 0.089, 0.037),
        PublishedPsi("PSI (k = 2)", PSI_2, 2.91, 0.229, 0.100),
    ),
    "4, n = 20": (
        PublishedPsi("TFIDF", "tfidf", 9.14, 0.128, 0.054),
        PublishedPsi("αLSI + (1 − α)TFIDF", "lsi_mixed", 6.36, 0.133, 0.059),
        PublishedPsi("PSI (k = 2)", PSI_2, 1.80, 0.302, 0.130),
    ),
    "6": (
        PublishedPsi("TFIDF (ATLAS translated queries)", "translated", 4.83, 0.290, 0.243),
        PublishedPsi("LSI (ATLAS translated queries)", "lsi", 7.54, 0.169, 0.150),
        PublishedPsi("αLSI + (1 − α)TFIDF (ATLAS)", "lsi_mixed", 3.71, 0.300, 0.253),
        PublishedPsi("CL-LSI JapEng", "cl_lsi", 9.29, 0.190, 0.161),
        PublishedPsi("αCL-LSI + (1 − α)TFIDF (ATLAS)", "cl_lsi_mixed", 3.31, 0.275, 0.212),
        PublishedPsi("PSI JapEng (k = 2)", PSI_2, 0.96, 0.438, 0.351),
    ),
}
"""Lines by table; in Table 3 and 4 by setting, too. Tables 1 and 3 give one set-up two results."""


def published_psi_blocks(rows: Sequence[Row], name: str) -> Iterator[str]:
    """The paper's lines beside our baselines and the rows with the encoder polynomial.

    Args:
      rows: of the experiment.
      name: a key of `PUBLISHED_PSI`.
    """
    done = [row for row in rows if row.done]
    if not done:
        return
    lines = []
    for one in PUBLISHED_PSI[name]:
        published = (f"{one.rank_loss:g} %", f"{one.map:.3f}", f"{one.p_10:.3f}")
        ours = [*_ours(one.ours, done)] or [(NOTHING, (NOTHING,) * 3)]
        lines += [(one.name, *published, label, *figures) for label, figures in ours]
    heads = ("Algorithm", *(f"published {column}" for column in _COLUMNS), "ours", *_COLUMNS)
    yield table(f"Beside the published numbers (Bai et al. 2009, Table {name})", heads, lines)
    yield paragraph(
        "The published numbers are of articles of the English Wikipedia and their links, in Table 6 of Japanese "
        "queries. The paper's rank loss is over pairs drawn from all queries; ours is the mean over queries of "
        "1 - ordered_pairs."
    )


def _ours(wanted: str, done: Sequence[Row]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The label and the figures of a baseline, or of each row of a degree."""
    if wanted in (PSI_2, PSI_3):
        for row in done:
            own = row.setting("model.encoder_settings") or {}
            if row.setting("model.encoder") == "polynomial" and own.get("degree") == (3 if wanted == PSI_3 else 2):
                yield row.label, _figures(row.mean("ordered_pairs"), row.mean("map"), row.mean("p_r_10"))
        return
    baseline = done[0].done[0].baselines.get(wanted)
    if baseline:
        yield baseline_name(wanted), _figures(baseline["ordered_pairs"], baseline["map"], baseline["p_r_10"])


def _figures(ordered_pairs: float, average_precision: float, p_10: float) -> tuple[str, ...]:
    return f"{100 * (1 - ordered_pairs):.2f} %", f"{average_precision:.3f}", f"{p_10:.3f}"
