"""What an experiment's runs tell of stability and of the paper's theory."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from experiments.experiment import Row
from experiments.report.page import NOTHING, Block, Entry, Line, Section, Table, Text
from schemas.stability import Stability, Theorem3

_COLUMNS: Final[Mapping[str, Callable[[Stability], float | None]]] = {
    "bound (smooth cosine: 1/ε)": lambda seed: seed.gradient_bound,
    "the paper's bound 2/ε": lambda seed: seed.paper_gradient_bound,
    "largest gradient seen": lambda seed: seed.largest_score_gradient,
    "plain cosine's, same vectors": lambda seed: seed.largest_score_gradient_plain_cosine,
    "clipped share of steps": lambda seed: seed.clipped_share,
    "loss: Lipschitz constant": lambda seed: seed.loss_lipschitz,
    "loss: smoothness": lambda seed: seed.loss_smoothness,
    "largest reachable score": lambda seed: seed.largest_score,
    "Theorem 3's bound": lambda seed: seed.theorem_3.bound if seed.theorem_3 else None,
}
"""The table's columns: None where there is no such thing."""


def stability(rows: Sequence[Row]) -> Section:
    """The stability of every row that has a report of it."""
    reports = {row.label: [cell.stability for cell in row.done if cell.stability] for row in rows}
    reports = {label: seeds for label, seeds in reports.items() if seeds}
    if not reports:
        return Section("stability", "Stability", (Text("No finished cell has a stability report."),))
    table = Table(
        "Largest values over the seeds. Gradients: norms of a score's gradient in either vector.",
        ("Row", *_COLUMNS),
        tuple(
            Line((Entry(label), *(Entry(_largest(map(value, seeds))) for value in _COLUMNS.values())))
            for label, seeds in reports.items()
        ),
    )
    return Section("stability", "Stability", (table, *_sentences(reports)))


def _largest(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{max(known):.4g}" if known else NOTHING


def _sentences(reports: Mapping[str, Sequence[Stability]]) -> Iterator[Block]:
    """What rows cannot reach, and what Theorem 3 says: each sentence once, with the rows that it holds for."""
    labels: dict[str, list[str]] = {}
    for label, seeds in reports.items():
        warnings = [f"Warning: {sentence}." for seed in seeds for sentence in seed.unreachable]
        theorems = [f"Theorem 3, first seed. {theorem.sentence}" for theorem in _theorems(seeds)[:1]]
        for sentence in dict.fromkeys([*warnings, *theorems]):
            labels.setdefault(sentence, []).append(label)
    for sentence, found in labels.items():
        yield Text(f"{'; '.join(found)}. {sentence}")
    every_theorem = [theorem for seeds in reports.values() for theorem in _theorems(seeds)]
    for caveat in dict.fromkeys(theorem.caveat for theorem in every_theorem):
        yield Text(caveat)


def _theorems(seeds: Sequence[Stability]) -> list[Theorem3]:
    return [seed.theorem_3 for seed in seeds if seed.theorem_3]
