"""A report as one HTML file that needs nothing besides itself."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

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
    # Our own drawing, whose texts are escaped in it.
    environment.filters["drawing"] = Markup
    return environment.get_template("page.html.j2").render(page=page)
