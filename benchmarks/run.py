"""The start of the command line, a whole run, the same run from the cache, and a question to its model.

    python -m benchmarks.run
    python -m benchmarks.run configs/bible_en_tl.yaml --baseline ../before

The run is that of `make demo`, or of a configuration. Each whole run has its own output folder; the cached run repeats
a run that is not measured. With --baseline each command is measured in both trees in turn; without, the commands are
compared with an import of TFX. CPU seconds are steadier than seconds on a machine that others use, too.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from benchmarks.harness import (
    CLIR,
    TREE,
    Figures,
    Harness,
    Usage,
    baseline_option,
    benchmark,
    run_pipeline,
    run_process,
    trees,
)

DEMO = (
    str(TREE / "configs" / "sample_dumps.yaml"),
    "channels.lexicon.title_pairs=true",
    "evaluation.baselines=[bm25, paper]",
    "search.index=true",
)


@click.command()
@click.argument("config", type=click.Path(exists=True), required=False)
@baseline_option
@click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="Override a setting.")
@benchmark(rounds=3)
def main(harness: Harness, config: str | None, baseline: Path | None, settings: tuple[str, ...]) -> None:
    """Compare start, whole run, cached run, and for the demo a search and a look into the lexicon."""
    path, *defaults = (config,) if config else DEMO
    overrides = (*defaults, *settings)
    with tempfile.TemporaryDirectory() as folder:

        def uncached(tree: Path) -> Figures:
            with tempfile.TemporaryDirectory() as output:
                return _figures(run_pipeline(path, f"{output}/run", *overrides, tree=tree).usage)

        def made(tree: Path) -> Path:
            output = Path(folder, str(tree == TREE))
            if not output.exists():
                run_pipeline(path, output, *overrides, tree=tree)
            return output

        def cached(tree: Path) -> Figures:
            return _figures(run_pipeline(path, made(tree), *overrides, tree=tree).usage)

        def asked(tree: Path, command: str, *arguments: str) -> Figures:
            return _figures(run_process([*CLIR, command, str(made(tree)), *arguments], tree))

        commands: dict[str, Callable[[Path], Figures]] = {
            "clir --help": lambda tree: _figures(run_process([*CLIR, "--help"], tree)),
            "clir run, all cached": cached,
            "clir run": uncached,
        }
        if not config:
            commands["clir search"] = lambda tree: asked(tree, "search", "molten rock")
            commands["clir lexicon"] = lambda tree: asked(tree, "lexicon", "--word", "rock")
        if baseline:
            for name, measure in commands.items():
                harness.compare(name, trees(baseline, measure))
        else:
            bare = [sys.executable, "-c", "from tfx import v1"]
            ways = {name: trees(None, measure)["now"] for name, measure in commands.items()}
            harness.compare(str(path), {"from tfx import v1": lambda: _figures(run_process(bare)), **ways})


def _figures(usage: Usage) -> Figures:
    return {"s": usage.seconds, "CPU s": usage.cpu_seconds, "peak GiB": usage.peak_bytes / 2**30}


if __name__ == "__main__":
    main()
