"""`clir compare`: compares run files of any systems on the same judgments."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from pipeline.conversion.inputs import MAX_BAD_SHARE, FileAccount, leave_out, read_records
from pipeline.input_files import file_fault
from schemas.drops import DropReason
from schemas.errors import ConfigError, DataError
from schemas.record_files import parse_judgments, parse_run
from schemas.wikiclir import Reason
from schemas.wording import printable
from smooth_clir.cli.arguments import json_option, number
from smooth_clir.cli.summary import metrics_columns
from smooth_clir.cli.terminal import FIELD, say, show, show_json

if TYPE_CHECKING:
    from models.evaluation.compare_runs import Judgments, Scores
    from models.evaluation.significance import Comparison

_SIGNIFICANCE: Final = 0.05


class RunReason(DropReason):
    """The reasons for leaving a line of a run out that occur only in a comparison."""

    RANKED_TWICE = ("document ranked twice for a query", True)
    UNJUDGED = ("query without judgments", False)


class _System(NamedTuple):
    """A run, and its means."""

    name: str
    account: FileAccount
    missing: int
    """The number of judged queries that the run lacks."""
    means: dict[str, float]


@click.command()
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1, required=True)
@click.option("--qrels", required=True, metavar="FILE", help="Judgments: query_id, doc_id, grade, or TREC's qrels.")
@click.option(
    "--measures",
    default="nDCG@10 AP RR R@100",
    show_default=True,
    metavar="NAMES",
    help="nDCG, AP, RR, P and R, as ir_measures names them: 'nDCG@10 P(rel=2)@1 RR'.",
)
@click.option("--all-pairs", is_flag=True, help="Compare all pairs of runs, not only each run with the first.")
@click.option(
    "--max-bad-share",
    default=MAX_BAD_SHARE,
    show_default=True,
    type=click.FloatRange(min=0, max=1),
    callback=number,
    help="The share of a file's lines that may be bad.",
)
@click.option("--latex", is_flag=True, help="Print a table in LaTeX, with letters for significant differences.")
@json_option
def compare(
    runs: tuple[str, ...], qrels: str, measures: str, all_pairs: bool, max_bad_share: float, latex: bool, as_json: bool
) -> None:
    """Compare RUNs, TREC run files of any systems, by measures and paired tests.

    A run has the NAME before its path, otherwise the name of its file. Each run is compared with the first: two-sided
    paired randomisation tests over queries, with Holm's correction over all comparisons. A judged query that a run
    lacks scores 0.

    Example: clir compare bm25.trec ours=runs/sample/evaluation/run.trec --qrels runs/sample/evaluation/qrels.trec
    """
    if latex and as_json:
        raise click.UsageError("give --latex or --json, but not both.")
    # They import NumPy, which most commands do without.
    from models.evaluation.compare_runs import RunMeasure, values_of_run
    from models.evaluation.significance import compare_pairs

    named = [_named(run) for run in runs]
    faults = [*_run_faults(named), *([f"--qrels: {fault}"] if (fault := file_fault(qrels)) else [])]
    parsed = []
    for name in dict.fromkeys(measures.replace(",", " ").split()):
        try:
            parsed.append(RunMeasure.parse(name))
        except ValueError as error:
            faults.append(f"--measures: {error}.")
    if not measures.strip(", "):
        faults.append("--measures: must name a measure; got none.")
    if faults:
        raise ConfigError(faults)

    judgments, qrels_account = _read_judgments(qrels)
    systems, values, bad = [], [], qrels_account.faults(max_bad_share)
    for name, path in named:
        scores, account = _read_scores(name, path, judgments)
        bad += account.faults(max_bad_share)
        if not bad and not scores:
            bad.append(f"{path} must rank documents for a query of {qrels}; it has none of its queries.")
        if not bad:
            values.append(values_of_run(scores, judgments, parsed))
            means = {measure: float(row.mean()) for measure, row in values[-1].items()}
            systems.append(_System(name, account, len(judgments) - len(scores), means))
    if bad:
        raise DataError("\n".join(bad))
    rows = range(len(systems))
    pairs = [(b, a) for a, b in combinations(rows, 2)] if all_pairs else [(row, 0) for row in rows[1:]]
    keys = [(row, other, measure.name) for row, other in pairs for measure in parsed]
    tests = compare_pairs((values[row][name], values[other][name]) for row, other, name in keys)
    compared = dict(zip(keys, tests, strict=True))
    without = sum(not any(judged.values()) for judged in judgments.values())
    if as_json:
        show_json(_as_dict(systems, compared, qrels_account, len(judgments), without))
        return
    for account in (qrels_account, *(system.account for system in systems)):
        say(f"{account.name}: {account.report().describe()}")
    for system in systems:
        if system.missing:
            say(f"warning: {system.name} lacks {system.missing:,} of {len(judgments):,} judged queries, which score 0")
    if latex:
        show("\n".join(_latex(systems, compared, len(judgments))))
    else:
        show("\n".join(_text(systems, compared, len(judgments), without)))


def _named(run: str) -> tuple[str, str]:
    """Returns the name and the path of a run."""
    name, equals, path = run.partition("=")
    if not (equals and name) or os.path.exists(run):
        name, path = Path(run).name.removesuffix(".gz").removesuffix(".trec"), run
    return printable(name, FIELD), path


def _run_faults(named: Sequence[tuple[str, str]]) -> Iterator[str]:
    names = [name for name, _ in named]
    for name, path in named:
        if fault := file_fault(path):
            yield f"RUN {name}: {fault}"
    if len(named) > len(ascii_lowercase):
        yield f"RUN: must be {len(ascii_lowercase)} files or fewer; got {len(named)}."
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"RUN: each run must have another name; {name!r} is the name of {names.count(name)}: give NAME=RUN."


def _read_judgments(path: str) -> "tuple[Judgments, FileAccount]":
    """Reads judgments; of two for the same document the first counts, and grades below 0 count as 0.

    Raises:
      DataError: no document is relevant.
    """
    account = FileAccount("judgments", path)
    judgments: dict[str, dict[str, int]] = {}
    for judgment in read_records(account, parse_judgments):
        judged = judgments.setdefault(judgment.query_id, {})
        grade = max(judgment.grade, 0)
        if judgment.doc_id in judged:
            is_equal = judged[judgment.doc_id] == grade
            reason = Reason.REPEATED if is_equal else Reason.DUPLICATE_PAIR
            account.leave_out(reason, judgment.line, judgment.excerpt)
        else:
            judged[judgment.doc_id] = grade
            account.used += 1
    if not any(any(judged.values()) for judged in judgments.values()):
        faults = account.faults(0) or [f"{path} must hold a judgment above 0; got none."]
        raise DataError("\n".join(faults))
    return judgments, account


def _read_scores(name: str, path: str, judgments: "Judgments") -> "tuple[Scores, FileAccount]":
    """Reads a run; of two lines for the same document the first counts."""
    account = FileAccount(f"run {name}", path)
    scores: dict[str, dict[str, float]] = {}
    for line in read_records(account, parse_run):
        if line.query_id not in judgments:
            leave_out(account, RunReason.UNJUDGED, line)
        elif line.doc_id in scores.get(line.query_id, ()):
            leave_out(account, RunReason.RANKED_TWICE, line)
        else:
            scores.setdefault(line.query_id, {})[line.doc_id] = line.score
            account.used += 1
    return scores, account


_Compared = Mapping[tuple[int, int, str], "Comparison"]
"""(row, row of the other run, measure) to comparison."""


def _test_text(compared: _Compared, queries: int) -> str:
    return (
        f"two-sided paired randomisation tests over {queries:,} queries, p-values after Holm's correction over "
        f"{len(compared)} comparisons"
    )


def _text(systems: Sequence[_System], compared: _Compared, queries: int, without: int) -> Iterator[str]:
    """Yields the table, a line for each pair, and an explanation."""
    yield from metrics_columns("", [(system.name, system.means) for system in systems])
    lines: dict[str, list[str]] = {}
    for (row, other, measure), result in compared.items():
        heading = f"{systems[row].name} against {systems[other].name}"
        p_value = f"p {'<=' if result.is_bound else '='} {result.p_value:.4f}"
        lines.setdefault(heading, []).append(f"{measure} {result.difference:+.4f} ({p_value})")
    for heading, parts in lines.items():
        yield f"{heading}: {', '.join(parts)}"
    yield f"{queries:,} queries" + (f", {without:,} of them without a relevant document" if without else "")
    if compared:
        yield _test_text(compared, queries)


_ESCAPES: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


def _latex(systems: Sequence[_System], compared: _Compared, queries: int) -> Iterator[str]:
    """Yields a table whose letters name the runs that a run is significantly above."""
    below: dict[tuple[int, str], str] = {}
    for (row, other, measure), result in compared.items():
        if result.p_value < _SIGNIFICANCE:
            better, worse = (row, other) if result.difference > 0 else (other, row)
            below[better, measure] = below.get((better, measure), "") + ascii_lowercase[worse]
    measures = [*systems[0].means]
    if compared:
        yield f"% Letters name the runs that a run is above with p < {_SIGNIFICANCE}: {_test_text(compared, queries)}."
    yield rf"\begin{{tabular}}{{ll{'l' * len(measures)}}}"
    yield r"\hline"
    yield " & ".join(["", "run", *measures]) + r" \\"
    yield r"\hline"
    for row, system in enumerate(systems):
        letters = (
            f"$^{{{''.join(sorted(below[key]))}}}$" if (key := (row, name)) in below else "" for name in measures
        )
        cells = [f"{mean:.4f}{marks}" for mean, marks in zip(system.means.values(), letters, strict=True)]
        yield " & ".join([ascii_lowercase[row], system.name.translate(_ESCAPES), *cells]) + r" \\"
    yield r"\hline"
    yield r"\end{tabular}"


def _as_dict(
    systems: Sequence[_System], compared: _Compared, qrels: FileAccount, queries: int, without: int
) -> dict[str, Any]:
    """Returns everything for JSON."""
    return {
        "queries": queries,
        "queries_without_relevant_document": without,
        "judgments": qrels.report().as_dict(),
        "runs": [
            {
                "name": system.name,
                "measures": system.means,
                "missing_queries": system.missing,
                "input": system.account.report().as_dict(),
            }
            for system in systems
        ],
        "comparisons": [
            {"run": systems[row].name, "other": systems[other].name, "measure": measure, **result._asdict()}
            for (row, other, measure), result in compared.items()
        ],
    }
