"""Domains: the parts of a collection that its queries belong to, such as joined collections, or topics.

A file of domains has a line `query_id <TAB> domain` for each query. Without such a file there is one domain, whose name
is empty.
"""

import unicodedata
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from schemas.settings import did_you_mean
from schemas.splits import SPLITS


def is_domain(name: str) -> bool:
    """Whether a text can be the name of a domain.

    Example:
      >>> [name for name in ("news", "Home & garden", "", " news", "a/b", "a\\tb") if is_domain(name)]
      ['news', 'Home & garden']
    """
    has_controls = any(unicodedata.category(character).startswith("C") for character in name)
    return bool(name) and name == name.strip() and "/" not in name and not has_controls


def alike(names: Iterable[str]) -> tuple[str, str] | None:
    """The first two names that are equal but for case and Unicode's forms of one letter; None where all differ.

    Example:
      >>> alike(["news", "health", "News"])
      ('news', 'News')
    """
    known: dict[str, str] = {}
    for name in names:
        key = unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
        if key in known:
            return known[key], name
        known[key] = name
    return None


class DomainFilter(NamedTuple):
    """Chooses lists by the domains of their queries.

    Attributes:
      names: names of domains, UTF-8.
      are_kept: True reads the lists of these domains; False reads the lists of all other domains.
    """

    names: frozenset[bytes]
    are_kept: bool

    def keeps(self, domain: bytes) -> bool:
        """Whether lists of a domain are read."""
        return (domain in self.names) == self.are_kept


def domains_to_train(held_out: Iterable[str]) -> DomainFilter:
    """The domains that vocabularies, lexicon, training and fitted numbers may know: all but those held out."""
    return DomainFilter(frozenset(name.encode() for name in held_out), are_kept=False)


EVERY_DOMAIN: Final = domains_to_train(held_out=())


def domains_to_test(held_out: Collection[str]) -> DomainFilter:
    """The domains whose test lists are scored: the held-out ones, or all domains where none is held out.

    Example:
      >>> [domains_to_test(held_out).keeps(b"news") for held_out in ([], ["news"], ["health"])]
      [True, True, False]
    """
    return DomainFilter(frozenset(name.encode() for name in held_out), are_kept=bool(held_out))


def held_out_fault(held_out: Collection[str], domains: Collection[str]) -> str | None:
    """Returns an error message for domains that cannot be held out, or None.

    Args:
      held_out: the names of `data.held_out`.
      domains: the domains of the collection.
    """
    for name in held_out:
        if name not in domains:
            hint = did_you_mean(name, domains) if domains else ""
            return f"must be domains of the collection ({', '.join(sorted(domains))}); got {name!r}{hint}"
    if held_out and not set(domains) - set(held_out):
        return f"must leave a domain to train on; it names all of them: {', '.join(sorted(domains))}"
    return None


class TrainedDomains(NamedTuple):
    """The number of domains that a training's settings need."""

    min_domains: int = 1
    needed_by: str = ""
    """The setting that needs `min_domains`."""
    max_domains: int | None = None
    """Number of lists of a training step, if each step needs a list of every domain; None otherwise."""

    def fault(self, trained: Collection[str]) -> str | None:
        """Returns an error message if too few or too many domains are trained on, or None.

        Example:
          >>> TrainedDomains(2, "adversary.weight").fault(["news"])
          'adversary.weight needs 2 domains or more that are trained on; got news'
        """
        if len(trained) < self.min_domains:
            got = ", ".join(sorted(trained)) or "none"
            return f"{self.needed_by} needs {self.min_domains} domains or more that are trained on; got {got}"
        if self.max_domains is not None and len(trained) > self.max_domains:
            return (
                "training.sampling equal needs a list of each trained domain in every step: training.batch_lists must "
                f"be at least {len(trained)}; got {self.max_domains}"
            )
        return None


def check_lists(
    lists: Mapping[str, Mapping[str, int]], held_out: Collection[str], held_out_texts: bool = False
) -> list[str]:
    """Returns an error message for each domain that lacks lists that a run needs.

    Args:
      lists: domain to split to its number of lists.
      held_out: the names of `data.held_out`.
      held_out_texts: whether the train lists of held-out domains are read.
    """
    faults = []
    if pair := alike(sorted(lists)):
        faults.append(
            f"domains must differ by more than case and Unicode's forms of letters; got {pair[0]!r} and {pair[1]!r}."
        )
    if fault := held_out_fault(held_out, lists):
        return [*faults, f"data.held_out {fault}."]
    for name, split_lists in sorted(lists.items()):
        held_out_splits = ("train", "test") if held_out_texts else ("test",)
        needed = held_out_splits if name in held_out else ("train", "eval")
        if lacking := [split for split in SPLITS if split in needed and not split_lists.get(split)]:
            role = "is held out" if name in held_out else "is trained on"
            counts = ", ".join(f"{split} {split_lists.get(split, 0):,}" for split in SPLITS)
            faults.append(f"the domain {name} {role}, and must have lists in {' and '.join(lacking)}; it has {counts}.")
    return faults
