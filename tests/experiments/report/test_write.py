"""The report of an experiment: what it shows, what it escapes, and that it needs nothing besides itself."""

import base64
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from experiments.report.write import write_report
from tests.cli.command import Clir
from tests.experiments.conftest import EXPERIMENTS

Reported = Callable[[str], Path]
QUICK = ("losses", "nothing done")
every_experiment = pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in EXPERIMENTS]
)


def html(folder: Path) -> str:
    return (folder / "report.html").read_text()


def markdown(folder: Path) -> str:
    return (folder / "report.md").read_text()


# The page


class Tags(HTMLParser):
    """Which tags are open, and every id and reference."""

    VOID = {"meta", "br", "link", "img"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.ids: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.open.extend([tag] if tag not in self.VOID else [])
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", "aria-labelledby"):
                self.references.append((value or "").removeprefix("#"))
            self.references.extend(re.findall(r"url\(#([^)]+)\)", value or ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@every_experiment
def test_the_page_needs_nothing_besides_itself(reported: Reported, name: str) -> None:
    page = html(reported(name))
    assert "://" not in page
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert not tags.seen & {"script", "link", "iframe", "object"}
    assert all(source.startswith("data:") for source in re.findall(r'\bsrc="([^"]*)', page))
    assert "@import" not in page


@every_experiment
def test_every_reference_of_the_page_has_one_place_that_it_names(reported: Reported, name: str) -> None:
    tags = Tags()
    tags.feed(html(reported(name)))
    assert len(tags.ids) == len(set(tags.ids))
    assert {reference for reference in tags.references if not reference.startswith("data:")} <= set(tags.ids)


@every_experiment
def test_every_picture_has_a_name_and_is_a_file_for_the_markdown(reported: Reported, name: str) -> None:
    figure = r'<figure id="([\w-]+)">\s*<div [^>]*><img src="data:image/svg\+xml;base64,([^"]*)" alt="([A-Z][^"]+)"'
    pictures = re.findall(figure, html(reported(name)))
    assert len(pictures) == html(reported(name)).count("<figure")
    names = [one for one, _, _ in pictures]
    assert names == re.findall(r"\]\(figures/([\w-]+)\.svg\)", markdown(reported(name)))
    assert {f"{one}.svg": base64.b64decode(content) for one, content, _ in pictures} == {
        path.name: path.read_bytes() for path in (reported(name) / "figures").iterdir()
    }


@pytest.mark.long
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_same_experiment_gives_the_same_bytes(reported: Reported, name: str, tmp_path: Path) -> None:
    again = shutil.copytree(reported(name), tmp_path / "elsewhere")
    write_report(again)
    for path in (path for path in again.rglob("*") if path.is_file()):
        assert path.read_bytes() == (reported(name) / path.relative_to(again)).read_bytes()


def test_no_text_of_the_experiment_is_taken_for_markup(reported: Reported) -> None:
    page = html(reported("losses"))
    assert "<script" not in page
    for number in (1, 2, 3):
        assert f"&lt;script&gt;alert({number})&lt;/script&gt;" in page
    text = markdown(reported("losses"))
    assert text.startswith("# Losses &lt;script>alert(2)&lt;/script>\n")
    assert r"&lt;script>alert(1)&lt;/script> \| at step 3 |" in text
    assert "````text\n# </pre><script>alert(3)</script> ``` **all losses**\n````" in text


# What was run


def test_cells_that_have_not_finished_are_shown_with_their_reasons(reported: Reported) -> None:
    text = markdown(reported("losses"))
    assert "12 cells: 10 done, 1 failed, 1 waiting." in text
    assert "| 005-three\\_part\\_l2-seed2 | failed | not finite:" in text
    assert "| 012-proportional\\_odds-seed3 | waiting | – |" in text


def test_an_experiment_without_a_finished_cell_has_a_report(reported: Reported) -> None:
    text = markdown(reported("nothing done"))
    assert "No cell has finished" in text
    assert "no space left" in text


# The other sections


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("losses", "321"),
        ("nothing done", "1"),
        pytest.param("epsilon", "4321", marks=pytest.mark.long),
        pytest.param("negatives", "5321", marks=pytest.mark.long),
    ],
)
def test_a_picture_is_drawn_where_there_is_something_to_draw(reported: Reported, name: str, numbers: str) -> None:
    assert "".join(re.findall(r"figures/figure-(\d)", markdown(reported(name)))) == numbers
    assert ("figures/training.svg" in markdown(reported(name))) == (name != "nothing done")


@pytest.mark.long
def test_a_loss_of_whole_lists_has_no_curve_over_one_score(reported: Reported) -> None:
    picture = (reported("one seed") / "figures" / "figure-2.svg").read_text()
    assert "SOSL, θ = (0.2, 0.7)" in picture
    assert "softmax" not in picture


def test_the_commands_that_repeat_a_finished_cell_stand_there(reported: Reported) -> None:
    commands = re.findall(r"^clir run (.*)$", markdown(reported("losses")), re.MULTILINE)
    assert len(commands) == 10
    assert all((reported("losses") / command.split()[0]).is_file() for command in commands)


# What is no good experiment


def test_a_folder_without_an_experiment_is_an_error_of_the_users(clir: Clir, tmp_path: Path) -> None:
    code, out, err = clir("report", tmp_path)
    assert (code, out) == (1, "")
    assert f"{tmp_path}: no experiment.json there" in err


@pytest.mark.long
def test_clir_report_writes_what_a_finished_experiment_has(clir: Clir, reported: Reported, tmp_path: Path) -> None:
    folder = shutil.copytree(reported("one seed"), tmp_path / "experiment", ignore=shutil.ignore_patterns("report.*"))
    code, out, err = clir("report", folder)
    assert (code, out) == (0, "")
    assert err.endswith(": report.html, report.md\n")
    assert html(folder) == html(reported("one seed"))


def test_a_report_leads_to_the_page_on_where_we_depart_from_the_paper(
    reported: Reported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "docs" / "differences.md"
    page.parent.mkdir()
    page.touch()
    folder = shutil.copytree(reported("losses"), tmp_path / "runs" / "my losses")
    monkeypatch.setattr("experiments.report.write._PROJECT", tmp_path)
    write_report(folder)
    (of_page,) = re.findall(r'<a href="([^"#]+)">differences from the paper</a>', html(folder))
    (of_markdown,) = re.findall(r"\[differences from the paper\]\(<([^>]+)>\)", markdown(folder))
    assert of_page == of_markdown
    assert (folder / of_page).resolve() == page


def test_a_report_elsewhere_names_that_page(reported: Reported) -> None:
    assert "docs/differences.md of this software." in html(reported("losses"))
    assert (Path(__file__).parents[3] / "docs" / "differences.md").is_file()
