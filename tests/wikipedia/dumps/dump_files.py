"""Dump files as Wikimedia writes them, small and in memory."""

import bz2
import io
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

NAMESPACES = {-2: "Media", -1: "Special", 0: "", 1: "Talk", 2: "User", 6: "File", 10: "Template", 14: "Category"}
END = "</mediawiki>\n"


def opener(files: Mapping[str, bytes]) -> Callable[[str, str], Any]:
    """Opens files that are only here, as streams that end where they end, as TensorFlow's do."""

    def open_file(path: str, mode: str) -> io.BytesIO:
        if path not in files:
            raise FileNotFoundError(2, "No such file or directory", path)
        return _Stream(files[path])

    return open_file


class _Stream(io.BytesIO):
    def seek(self, place: int, whence: int = 0) -> int:
        if whence == 0 and place > len(self.getbuffer()):
            raise ValueError("reached end of file")
        return super().seek(place, whence)


def header(
    database: str = "enwiki",
    language: str = "en",
    version: str = "0.11",
    case: str = "first-letter",
    namespaces: Mapping[int, str] = NAMESPACES,
) -> str:
    """What stands before the pages."""
    names = "".join(
        f'      <namespace key="{key}" case="{case}">{name}</namespace>\n'
        if name
        else f'      <namespace key="{key}" case="{case}" />\n'
        for key, name in namespaces.items()
    )
    address = f"http://www.mediawiki.org/xml/export-{version}/"
    return (
        f'<mediawiki xmlns="{address}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        f'xsi:schemaLocation="{address} http://www.mediawiki.org/xml/export-{version}.xsd" version="{version}" '
        f'xml:lang="{language}">\n'
        f"  <siteinfo>\n    <sitename>Wikipedia</sitename>\n    <dbname>{database}</dbname>\n"
        f"    <base>https://{language}.wikipedia.org/wiki/Main_Page</base>\n"
        f"    <generator>MediaWiki 1.43.0-wmf.1</generator>\n    <case>{case}</case>\n"
        f"    <namespaces>\n{names}    </namespaces>\n  </siteinfo>\n"
    )


def revision(text: str, model: str = "wikitext", slots: str = "") -> str:
    """A revision, whose text is escaped as MediaWiki does."""
    return raw_revision(
        f'<text bytes="{len(text.encode())}" sha1="x" xml:space="preserve">{escape(text)}</text>', model, slots
    )


def raw_revision(text: str, model: str = "wikitext", slots: str = "") -> str:
    """A revision with its text's element as it stands."""
    return (
        "    <revision>\n      <id>70</id>\n      <parentid>69</parentid>\n"
        "      <timestamp>2024-01-01T00:00:00Z</timestamp>\n      <contributor>\n"
        "        <username>Someone &amp; else</username>\n        <id>17</id>\n      </contributor>\n"
        "      <comment>a &lt;page&gt; of [[links]]</comment>\n      <origin>70</origin>\n"
        f"      <model>{model}</model>\n      <format>text/x-wiki</format>\n      {text}\n"
        f"      <sha1>x</sha1>\n{slots}    </revision>\n"
    )


def page(page_id: int, title: str, text: str, namespace: int = 0, redirect: str | None = None) -> str:
    """A page of one revision."""
    return raw_page(page_id, title, revision(text), namespace, redirect)


def raw_page(page_id: int, title: str, revisions: str, namespace: int = 0, redirect: str | None = None) -> str:
    """A page with its revisions as they stand."""
    leads_to = f'    <redirect title="{escape(redirect)}" />\n' if redirect else ""
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n    <ns>{namespace}</ns>\n    <id>{page_id}</id>\n"
        f"{leads_to}{revisions}  </page>\n"
    )


def dump(*pages: str, **about: Any) -> bytes:
    """A whole dump."""
    return f"{header(**about)}{''.join(pages)}{END}".encode()


def multistream(pages: Sequence[str], in_stream: int, **about: Any) -> tuple[bytes, bytes]:
    """A multistream dump, and its index, both bzipped; page ids count from 1."""
    content = bz2.compress(header(**about).encode())
    index = []
    for first in range(0, len(pages), in_stream):
        some = pages[first : first + in_stream]
        index += [f"{len(content)}:{first + place}:Title {first + place}\n" for place in range(1, len(some) + 1)]
        content += bz2.compress("".join(some).encode())
    return content + bz2.compress(END.encode()), bz2.compress("".join(index).encode())
