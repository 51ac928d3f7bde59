"""Makes the site's pages whose sources are not files in docs/, as hooks of MkDocs (see mkdocs.yml).

The README is the front page; CONTRIBUTING.md and CHANGELOG.md are pages. Every public module has a page made of its
docstrings, every notebook one of its cells. A link of any page to a file or folder of the repository leads to its page,
which is made where it is missing: one under files/ that shows the text.
"""

import ast
import json
import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
ROOMS = ("schemas", "models", "components", "pipeline", "smooth_clir")
NAMED = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""The Markdown files outside docs/ that have a place in the navigation."""
STYLE = "site.css"
LANGUAGES = {".cff": "yaml", ".lock": "text", ".pbtxt": "text", ".sh": "sh", "Makefile": "make"}
"""Languages for colouring a file's text where its suffix does not name one."""
LARGEST = 256 * 1024
"""Bytes of the largest file that is shown as a page; a larger one is there to download."""

CODE = re.compile(r"(^(`{3,}|~{3,}).*?^\2[`~]*$|(?<!`)(`+)(?!`).*?(?<!`)\3(?!`))", re.MULTILINE | re.DOTALL)
TARGETS = re.compile(
    r"""(?<=\]\()[^()\s]+(?=\)|\s+"[^"]*"\))"""  # [text](target "title")
    r"""|(?<=\]:)\s*\S+(?=\s*$)"""  # [text]: target
    r"""|(?<=href=")[^"]+(?=")|(?<=src=")[^"]+(?=")""",
    re.MULTILINE,
)

sources: dict[str, str] = {}
"""Path in the repository to path in the site, of each page and picture."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds every page that is not a file in docs/, and fills the navigation's entries that end in /*."""
    sources.clear()
    sources.update({f"docs/{file.src_uri}": file.src_uri for file in files} | NAMED)
    for path, uri in NAMED.items():
        hidden = "---\nhide: [navigation]\n---\n\n" if uri == "index.md" else ""
        files.append(File.generated(config, uri, content=hidden + (ROOT / path).read_text(encoding="utf-8")))
    texts: list[tuple[str, str]] = []
    for path in [path for path in sources if path.endswith(".ipynb")]:
        uri, content = sources[path].removesuffix(".ipynb") + ".md", notebook_page(ROOT / path)
        sources[path] = uri
        files.append(File.generated(config, uri, content=content))
        texts.append((path, content))
    files.append(File.generated(config, STYLE, content=(Path(__file__).parent / STYLE).read_text(encoding="utf-8")))
    for path, uri, content in api_pages():
        sources[path] = uri
        files.append(File.generated(config, uri, content=content))
    texts += [(path, (ROOT / path).read_text(encoding="utf-8")) for path in sources if path.endswith(".md")]
    while texts:
        path, text = texts.pop()
        for target in linked(path, text):
            if target not in sources and (ROOT / target).exists():
                sources[target], page = shown(target)
                files.append(File.generated(config, sources[target], content=page, inclusion=InclusionLevel.NOT_IN_NAV))
                if isinstance(page, str):
                    texts.append((base(target), page))
    config.nav = filled(config.nav or [], files)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Points the links of a page to pages of the site."""
    uri = page.file.src_uri
    path = next((path for path, published in sources.items() if published == uri), None)
    if path is None or uri.startswith("api/"):
        return markdown
    return each_target(markdown, lambda target: rewritten(target, base(path), uri))


def each_target(markdown: str, change: Callable[[str], str]) -> str:
    """The text with every link's target changed; code stays as it is."""
    parts, end = [], 0
    for code in CODE.finditer(markdown):
        parts += [TARGETS.sub(lambda m: change(m[0]), markdown[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, TARGETS.sub(lambda m: change(m[0]), markdown[end:])])


def base(path: str) -> str:
    """The base of a page's relative links: its file, or a file in its folder."""
    return f"{path}/index.md" if (ROOT / path).is_dir() else path


def repository_path(target: str, path: str) -> str | None:
    """The path in the repository that a link of `path` leads to; None for an address or a place in the page."""
    target = target.strip().split("#")[0]
    if not target or re.match(r"[a-z][a-z0-9+.-]*:|/", target):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def linked(path: str, markdown: str) -> Iterator[str]:
    """The paths in the repository that a Markdown file links to."""
    targets: list[str] = []

    def noted(target: str) -> str:
        targets.append(target)
        return target

    each_target(markdown, noted)
    yield from (where for target in targets if (where := repository_path(target, path)) is not None)


def rewritten(target: str, path: str, uri: str) -> str:
    """A link's target, seen from the page `uri` that the file `path` became."""
    leads_from = repository_path(target, path)
    if leads_from is None or leads_from == path or leads_from not in sources:
        return target
    leads_to = sources[leads_from]
    anchor = "".join(target.strip().partition("#")[1:])
    if leads_to.startswith(("api/", "files/")) and re.fullmatch(r"#L\d+(-L\d+)?", anchor):
        anchor = ""
    return posixpath.relpath(leads_to, posixpath.dirname(uri) or ".") + anchor


def shown(path: str) -> tuple[str, str | bytes]:
    """The URI and content of the page, or of the file to download, that shows a path in the repository."""
    file = ROOT / path
    if file.is_dir():
        inner = sorted(child for child in file.iterdir() if not child.name.startswith((".", "__pycache__")))
        rows = [f"- [`{c.name}`]({c.name})" if is_text(c) else f"- `{c.name}{'/' * c.is_dir()}`" for c in inner]
        return f"files/{path}/index.md", "\n".join([f"# {path}/", "", *rows, ""])
    if not is_text(file):
        return f"files/{path}", file.read_bytes()
    text = file.read_text(encoding="utf-8")
    if path.endswith(".md"):
        return f"files/{path}", text
    language = LANGUAGES.get(file.suffix or file.name, file.suffix.removeprefix(".")) or "text"
    return f"files/{path}.md", f"# {path}\n\n{fenced(text, language)}\n"


def is_text(path: Path) -> bool:
    """Whether a file is small enough to be shown, and text."""
    if not path.is_file() or path.stat().st_size > LARGEST:
        return False
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False
    return True


def notebook_page(notebook: Path) -> str:
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


def fenced(text: str, language: str) -> str:
    """A text as a block of code; the fence is longer than any fence in it."""
    return f"``````{language}\n{text.rstrip()}\n``````"


def api_pages() -> Iterator[tuple[str, str, str]]:
    """The page of every public module: its path in the repository, the page's URI and content.

    A package's path is its folder's, and its page lists what is in it.
    """
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            path = file.relative_to(ROOT)
            module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
            if any(part.startswith("_") and part != "__init__" for part in path.with_suffix("").parts):
                continue
            content = f"---\ntitle: {module.split('.')[-1]}\n---\n\n::: {module}\n"
            if file.name == "__init__.py":
                folder = path.parent.as_posix()
                yield folder, f"api/{folder}/index.md", content + "\n".join(contents_of(file.parent))
            else:
                yield path.as_posix(), f"api/{path.with_suffix('.md').as_posix()}", content
    overview = "".join(f"- [`{room}`]({room}/index.md): {summary(ROOT / room)}\n" for room in ROOMS)
    yield "api", "api/index.md", f"# API\n\nThe modules and what their docstrings say.\n\n{overview}"


def contents_of(folder: Path) -> Iterator[str]:
    """The contents of a package, as lines of a Markdown list."""
    yield ""
    for child in sorted(folder.iterdir()):
        if (child / "__init__.py").is_file():
            yield f"- [`{child.name}`]({child.name}/index.md): {summary(child)}"
        elif child.suffix == ".py" and not child.name.startswith("_"):
            yield f"- [`{child.stem}`]({child.stem}.md): {summary(child)}"
    yield ""


def summary(path: Path) -> str:
    """The first line of a module's or package's docstring."""
    file = path / "__init__.py" if path.is_dir() else path
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    return docstring.splitlines()[0] if docstring else ""


Entry = str | dict[str, "Entry"] | list["Entry"]


def filled(nav: Entry, files: Files) -> Entry:
    """The navigation with the pages below a folder in place of each entry FOLDER/*."""
    if isinstance(nav, str):
        return below(nav.removesuffix("/*"), files) if nav.endswith("/*") else nav
    if isinstance(nav, dict):
        return {title: filled(entry, files) for title, entry in nav.items()}
    return [filled(entry, files) for entry in nav]


def below(folder: str, files: Files) -> list[Entry]:
    """The pages of a folder: its index, then its modules or reports, then the folders in it."""
    prefix = f"{folder}/"
    pages = {file.src_uri for file in files.documentation_pages() if file.src_uri.startswith(prefix)}
    index = pages & {f"{prefix}index.md", f"{prefix}README.md"}
    own = [page for page in sorted(pages - index) if "/" not in page.removeprefix(prefix)]
    entries: list[Entry] = [*index, *own]
    for name in sorted({page.removeprefix(prefix).split("/")[0] for page in pages - index - {*own}}):
        inner = below(prefix + name, files)
        entries.append({name: inner} if len(inner) > 1 else inner[0])
    return entries
