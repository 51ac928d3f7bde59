"""A report as one HTML file that needs nothing besides itself."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from experiments.report.page import Page


def as_html(page: Page) -> str:
    """The page with its style and pictures within it. All text is escaped."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["kind"] = lambda block: type(block).__name__
    return environment.get_template("page.html.j2").render(page=page)
