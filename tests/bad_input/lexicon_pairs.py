"""Settings of the lexicon that are bad, and files of further pairs that are bad as a whole."""

from tests.bad_input.case import AT_ONCE, BY_THE_RUN, RUN, Case, Make
from tests.bad_input.spoil import all_of, cut, file, fill_every_split, setting


def pairs(content: str | bytes) -> Make:
    """Names a file of pairs, and writes it."""
    return all_of(file("pairs.tsv", content), setting("lexicon: {pairs: pairs.tsv}\n"))


_GOOD = "wolf\tloup\ndog\tchien\n"

LEXICON_PAIRS = [
    Case(
        "weight_that_is_neither",
        "The weight of the channel is neither a number nor `fitted`.",
        AT_ONCE,
        setting("lexicon: {weight: much}\n"),
        ("run.yaml:8: lexicon.weight: must be a number from 0 to 1e12, fitted or held_out; got 'much'",),
    ),
    Case(
        "pairs_that_nothing_learns_from",
        "Pairs are given for a kind that learns nothing.",
        AT_ONCE,
        all_of(file("pairs.tsv", _GOOD), setting("lexicon: {kind: bm25, pairs: pairs.tsv}\n")),
        ("run.yaml:8: lexicon.pairs: must be null for the kind bm25, which learns nothing; got '",),
    ),
    Case(
        "missing_pairs",
        "The pairs are not there.",
        AT_ONCE,
        setting("lexicon: {pairs: pairs.tsv}\n"),
        ("run.yaml:8: lexicon.pairs: there is no file pairs.tsv.",),
    ),
    Case(
        "empty_pairs",
        "The file of pairs is empty.",
        AT_ONCE,
        pairs(""),
        ("run.yaml:8: lexicon.pairs: pairs.tsv is empty.",),
    ),
    Case(
        "pairs_without_tabs",
        "Something other than a tab separates the texts of the pairs.",
        AT_ONCE,
        pairs(_GOOD.replace("\t", " ||| ")),
        (
            "run.yaml:8: lexicon.pairs: pairs.tsv must hold lines of query-language text and document-language text, ",
            "separated by a tab; its first 2 hold none: pairs.tsv:1: wrong number of tab-separated fields: wolf ||| ",
        ),
    ),
    Case(
        "cut_pairs",
        "A gzipped file of pairs is cut off.",
        AT_ONCE,
        pairs(cut("".join(f"wolf {i}\tloup {i}\n" for i in range(100)).encode())),
        ("lexicon.pairs: pairs.tsv:", "rest of the file cannot be read: Compressed file ended before"),
    ),
    Case(
        "changed_pairs",
        "The pairs are not those whose SHA-256 the configuration gives.",
        AT_ONCE,
        pairs(_GOOD),
        ("lexicon.pairs: pairs.tsv must have the SHA-256 ffff", "restore it, or remove lexicon.sha256 from"),
        (*RUN, "--set", "lexicon.sha256.pairs=" + 64 * "f"),
    ),
    Case(
        "too_many_bad_pairs",
        "More than `data.max_bad_share` of the pairs are bad.",
        BY_THE_RUN,
        all_of(fill_every_split, pairs(_GOOD + "cat chat\n")),
        (
            "pairs.tsv: 1 of 3 pairs are bad; at most a share of 0.05 may be (data.max_bad_share):",
            "1 x wrong number of tab-separated fields",
            "pairs.tsv:3: cat chat",
        ),
    ),
]
