"""Makes the site's pages whose sources are not in docs/: a script of mkdocs-gen-files (see mkdocs.yml).

The README is the front page; CONTRIBUTING.md, SECURITY.md and CHANGELOG.md are pages. Every public module has a page
made of its docstrings, every notebook a page of its cells. A link to another file of the repository leads to a page
that shows the file.
"""

import json
import posixpath
import re
from pathlib import Path

import mkdocs_gen_files

ROOT = Path(__file__).parents[2]
ROOMS = ("schemas", "models", "components", "pipeline", "smooth_clir")
TARGET = re.compile(r"(?<=\]\()[^()\s#:]+(?=[#)])")
"""The path in a Markdown link `[text](path#anchor)`; addresses with a scheme do not match."""


def write(uri: str, text: str) -> None:
    """Adds a page to the site."""
    with mkdocs_gen_files.open(uri, "w", encoding="utf-8") as page:
        page.write(text)


def fenced(text: str, language: str) -> str:
    """A text as a block of code; the fence is longer than any fence in it."""
    return f"``````{language}\n{text.rstrip()}\n``````\n"


def notebook_text(notebook: Path) -> str:
    """A notebook as Markdown: its cells, each followed by its output."""
    parts = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else fenced(source, "python"))
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                parts.append(f"![](data:image/png;base64,{''.join(data['image/png']).strip()})")
            elif text := "".join(output.get("text") or data.get("text/plain") or output.get("traceback") or ""):
                parts.append(fenced(text, "text"))
    return "\n\n".join([*parts, f"The [notebook]({notebook.name}) itself, to run.", ""])


def add_module(path: Path) -> str:
    """Adds the page of a module's docstrings, which mkdocstrings fills in; returns its address in the site."""
    module = path.with_suffix("")
    package = module.name == "__init__"
    uri = f"api/{module.parent if package else module}{'/index' if package else ''}.md"
    name = ".".join(module.parts).removesuffix(".__init__")
    options = "    options:\n      summary: {modules: true}\n" if package else ""
    write(uri, f"---\ntitle: {name.split('.')[-1]}\n---\n\n::: {name}\n{options}")
    return uri


def add_file(path: str) -> str:
    """Adds a page that shows a file of the repository; returns its address in the site."""
    text, suffix = (ROOT / path).read_text(encoding="utf-8"), Path(path).suffix
    write(f"files/{path}.md", f"# {path}\n\n{fenced(text, suffix.removeprefix('.') or 'text')}")
    return f"files/{path}.md"


def main() -> None:
    """Adds the pages, and points the links of all pages to pages of the site."""
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in ROOT.glob("docs/**/*.md")}
    uris = {path: path.removeprefix("docs/") for path in texts}
    for name in ("README", "CONTRIBUTING", "SECURITY", "CHANGELOG"):
        texts[f"{name}.md"] = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        uris[f"{name}.md"] = f"{name.lower()}.md" if name != "README" else "index.md"
    texts["README.md"] = f"---\nhide: [navigation]\n---\n\n{texts['README.md']}"
    for notebook in ROOT.glob("docs/**/*.ipynb"):
        path = notebook.relative_to(ROOT).as_posix()
        texts[path], uris[path] = notebook_text(notebook), path.removeprefix("docs/").replace(".ipynb", ".md")
    for room in ROOMS:
        for file in (ROOT / room).rglob("[!_]*.py"):
            module = file.relative_to(ROOT)
            uris[module.as_posix()] = add_module(module)
        for file in (ROOT / room).rglob("__init__.py"):
            package = file.relative_to(ROOT)
            uris[package.parent.as_posix()] = add_module(package)
    write("api/index.md", "# API\n\n" + "".join(f"- [`{room}`]({room}/index.md)\n" for room in ROOMS))

    for path, text in texts.items():
        folder, uri = posixpath.dirname(path), uris[path]

        def page_path(match: re.Match[str], folder: str = folder, uri: str = uri) -> str:
            target = posixpath.normpath(posixpath.join(folder, match[0]))
            if target not in uris and (ROOT / target).is_file():
                uris[target] = target.removeprefix("docs/") if target.startswith("docs/") else add_file(target)
            return posixpath.relpath(uris[target], posixpath.dirname(uri) or ".") if target in uris else match[0]

        write(uri, TARGET.sub(page_path, text))


main()
