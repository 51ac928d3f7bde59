"""What an experiment's runs tell of stability and of the paper's theory."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from experiments.experiment import Row
from experiments.report.page import Block, Entry, Line, Section, Table, Text
from experiments.report.results import NOTHING

_COLUMNS: Final = {
    "gradient_bound": "bound (smooth cosine: 1/ε)",
    "paper_gradient_bound": "the paper's bound 2/ε",
    "largest_score_gradient": "largest gradient seen",
    "largest_score_gradient_plain_cosine": "plain cosine's, same vectors",
    "clipped_share": "clipped share of steps",
    "loss_lipschitz": "loss: Lipschitz constant",
    "loss_smoothness": "loss: smoothness",
    "largest_score": "largest reachable score",
}
"""Keys of stability.json that are numbers, or null where there is no such thing."""


def stability(rows: Sequence[Row]) -> Section:
    """The stability of every row that has a report of it."""
    reports = {row.label: [cell.stability for cell in row.done if cell.stability] for row in rows}
    reports = {label: seeds for label, seeds in reports.items() if seeds}
    if not reports:
        return Section("stability", "Stability", (Text("No finished cell has a stability report."),))
    table = Table(
        "Largest values over the seeds. Gradients: norms of a score's gradient in either vector.",
        ("Row", *_COLUMNS.values(), "Theorem 3's bound"),
        tuple(
            Line(
                (
                    Entry(label),
                    *(Entry(_largest(seeds, key)) for key in _COLUMNS),
                    Entry(_largest(_theorems(seeds), "bound")),
                )
            )
            for label, seeds in reports.items()
        ),
    )
    return Section("stability", "Stability", (table, *_sentences(reports)))


def _largest(seeds: Sequence[Mapping[str, Any]], key: str) -> str:
    values = [seed[key] for seed in seeds if seed.get(key) is not None]
    return f"{max(values):.4g}" if values else NOTHING


def _sentences(reports: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Block]:
    """What rows cannot reach, and what Theorem 3 says: each sentence once, with the rows that it holds for."""
    labels: dict[str, list[str]] = {}
    for label, seeds in reports.items():
        warnings = [f"Warning: {sentence}." for seed in seeds for sentence in seed.get("unreachable") or ()]
        theorems = [f"Theorem 3, first seed. {theorem['sentence']}" for theorem in _theorems(seeds)[:1]]
        for sentence in dict.fromkeys([*warnings, *theorems]):
            labels.setdefault(sentence, []).append(label)
    for sentence, found in labels.items():
        yield Text(f"{'; '.join(found)}. {sentence}")
    every_theorem = [theorem for seeds in reports.values() for theorem in _theorems(seeds)]
    for caveat in dict.fromkeys(theorem["caveat"] for theorem in every_theorem):
        yield Text(caveat)


def _theorems(seeds: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [seed["theorem_3"] for seed in seeds if seed.get("theorem_3")]
