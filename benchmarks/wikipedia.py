"""Making a collection of generated dumps, beside reading them alone: CPU seconds, wall time and memory.

    .venv/bin/python benchmarks/wikipedia.py --pages 200000

The dumps are those of `benchmarks/synthetic_dumps.py`: two wikis, multistream, half of the pages each. The baseline, in
the same sitting, is what no way of making a collection can do without: unpacking, XML, the lead's cleaning and the
links, of the same bytes, one page after the other. Each measurement is a process of its own.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import click

TREE = Path(__file__).parent.parent
sys.path.insert(0, str(TREE))


class Usage(NamedTuple):
    """What a process took, with those that it started; its memory is its own largest resident set."""

    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    pages: int

    def describe(self, name: str) -> str:
        """The figures in columns."""
        figures = f"{self.cpu_seconds:8.1f} s CPU {self.wall_seconds:8.1f} s {self.peak_bytes / 1e6:8.0f} MB"
        return f"{name:28}{figures} {self.pages / self.wall_seconds:8,.0f} pages/s"


def read_alone(config_path: str) -> int:
    """Unpacks, parses, cleans leads and extracts links; returns how many pages."""
    from pipeline.wikipedia.config import load_wikipedia_config
    from wikipedia.dumps.chunks import dump_chunks
    from wikipedia.dumps.page_parser import Page
    from wikipedia.dumps.read_pages import read_pages
    from wikipedia.dumps.site_info import read_site_info
    from wikipedia.wikitext.article import Wanted, read_article
    from wikipedia.wikitext.conventions import conventions_for

    config, count = load_wikipedia_config(config_path), 0
    # As the making: of the queries' wiki the leads, of the documents' wiki the texts and the links.
    for language, wanted in (("en", Wanted(text=False, links=False)), ("fr", Wanted(lead=False))):
        path = config.wikis[language].pages
        site = read_site_info(path, open)
        conventions = conventions_for(language, site.namespaces)
        for chunk in dump_chunks(path, open):
            for page in read_pages(chunk, open):
                count += 1
                if isinstance(page, Page) and page.redirect is None:
                    read_article(page.text, page.title, conventions, config.max_words, wanted)
    return count


def make(config_path: str, processes: int) -> int:
    """Makes the collection; returns how many pages were read."""
    from pipeline.wikipedia.config import load_wikipedia_config
    from pipeline.wikipedia.make import make_collections

    (manifest,) = make_collections(load_wikipedia_config(config_path), processes, lambda line: None).values()
    return sum(wiki["pages"]["read"] for wiki in manifest["wikis"].values())


def measured(what: str, config_path: str) -> Usage:
    """Runs one measurement in a process of its own."""
    command = [sys.executable, __file__, "--child", what, config_path]
    return Usage(*json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=TREE).stdout))


def child(what: str, config_path: str) -> None:
    """One measurement, as JSON."""
    started = time.perf_counter()
    pages = read_alone(config_path) if what == "alone" else make(config_path, int(what))
    wall = time.perf_counter() - started
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    print(json.dumps([cpu, wall, max(usage.ru_maxrss for usage in usages[:1]) * 1024, pages]))


def generate(folder: Path, pages: int, length: float) -> str:
    """Writes both dumps and the configuration; returns the latter's path."""
    from benchmarks.synthetic_dumps import SyntheticWiki

    lines = ["wikis:"]
    for language, other in (("en", "fr"), ("fr", "en")):
        wiki = SyntheticWiki(language, pages // 2, length)
        lines += [f"  {language}:", f"    pages: {wiki.write(folder, 'multistream')}"]
        if language == "en":
            lines.append(f"    language_links: {wiki.write_language_links(folder, other)}")
    path = folder / "wikipedia.yaml"
    path.write_text("\n".join([*lines, "pairs: [en-fr]", f"output: {folder}/made", ""]))
    return str(path)


@click.command()
@click.option("--pages", default=200_000, show_default=True, help="Of both dumps together.")
@click.option("--length", default=1.0, show_default=True, help="Factor of the texts' lengths.")
@click.option("--dumps", type=click.Path(path_type=Path), help="A folder to keep the dumps in, or that has them.")
@click.option("--child", "parts", nargs=2, hidden=True)
def main(pages: int, length: float, dumps: Path | None, parts: tuple[str, str] | None) -> None:
    """Measures reading alone, and making with one process and with two."""
    if parts:
        child(*parts)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = dumps or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / "wikipedia.yaml"
        path = str(config) if config.exists() else generate(folder, pages, length)
        print(f"{pages:,} pages, texts of length {length:g}; load {os.getloadavg()[0]:.1f}")
        alone = measured("alone", path)
        print(alone.describe("reading alone"))
        usages = {}
        for processes in (1, 2):
            shutil.rmtree(folder / "made", ignore_errors=True)
            usages[processes] = measured(str(processes), path)
            print(usages[processes].describe(f"making, {processes} process{'es' if processes > 1 else ''}"))
        print(f"CPU against reading alone: {usages[1].cpu_seconds / alone.cpu_seconds:.2f}")
        print(f"wall of two processes against one: {usages[2].wall_seconds / usages[1].wall_seconds:.2f}")
        over = (usages[1].peak_bytes - alone.peak_bytes) / usages[1].pages
        print(f"memory over that of reading alone: {over / 1e3:.2f} kB a page")


if __name__ == "__main__":
    main()
