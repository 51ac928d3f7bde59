"""The wiki that some dump files are of."""

from collections.abc import Sequence

from components.wikipedia_gen.dumps.opened import OpenFile
from components.wikipedia_gen.dumps.site_info import SiteInfo, read_site_info
from schemas.errors import DataError


def wiki_site(paths: Sequence[str], language: str, open_file: OpenFile) -> SiteInfo:
    """The one wiki of all the parts of a dump, which is the expected one.

    Args:
      paths: of the parts.
      language: that the wiki must have, as its header says it or as other wikis' links call it.
      open_file: opens them.

    Raises:
      DataError: parts are of different wikis or of another language, or see `read_site_info`.
    """
    sites = {path: read_site_info(path, open_file) for path in paths}
    first = next(iter(sites.values()))
    for path, site in sites.items():
        if language not in (site.language, site.code):
            raise DataError(
                f"{path}: expected a dump of a wiki in '{language}'; this is {site.database}, in '{site.language}'. "
                "Name another file or another language."
            )
        if site.database != first.database:
            raise DataError(
                f"{path}: all parts of a dump must be of one wiki; this is {site.database}, and {paths[0]} is "
                f"{first.database}."
            )
    return first
