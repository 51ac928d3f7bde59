"""Settings of the lexicon that are bad, and files of further pairs that are bad as a whole."""

import gzip

from tests.bad_input.case import AT_ONCE, BY_THE_RUN, RUN, Case, Make
from tests.bad_input.spoil import all_of, cut, file, fill_every_split, nothing, setting


def pairs(content: str | bytes, name: str = "pairs.tsv") -> Make:
    """Names a file of pairs, and writes it."""
    return all_of(file(name, content), setting(f"lexicon: {{pairs: {name}}}\n"))


_GOOD = "wolf\tloup\ndog\tchien\n"
_TABLE = '{"loup": {"wolf": 0.9},\n "chien": {"dog": 0.8}}\n'

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
        "weight_of_pairs_that_are_not_there",
        "A weight is given for further pairs, and no pairs.",
        AT_ONCE,
        setting("lexicon: {kind: lexicon, pairs_weight: 0.5}\n"),
        ("run.yaml:8: lexicon.pairs_weight: must be 1 without lexicon.pairs, which it weighs; got 0.5",),
    ),
    Case(
        "pairs_without_a_weight_above_0",
        "The weight of further pairs is 0.",
        AT_ONCE,
        all_of(file("pairs.tsv", _GOOD), setting("lexicon: {pairs: pairs.tsv, pairs_weight: 0}\n")),
        ("run.yaml:8: lexicon.pairs_weight: must be greater than 0; got 0",),
    ),
    Case(
        "broken_table",
        "A translation table is no JSON.",
        AT_ONCE,
        pairs(_TABLE.replace('"chien":', '"chien"'), "psq.json"),
        (
            "run.yaml:8: lexicon.pairs: psq.json:2: no JSON object {document word: {query word: weight}}: ",
            "Expecting ':' delimiter (column 10)",
        ),
    ),
    Case(
        "table_of_another_form",
        "A JSON table holds something other than objects of words and weights.",
        AT_ONCE,
        pairs(gzip.compress(b'{"loup": ["wolf", 0.9]}'), "psq.json.gz"),
        ("no JSON object {document word: {query word: weight}}: no object of translations: loup: ['wolf', 0.9]",),
    ),
    Case(
        "deep_table",
        "A JSON table holds objects within objects, without end.",
        AT_ONCE,
        pairs(100_000 * '{"loup": ', "psq.json"),
        ("psq.json:1: no JSON object", "too many objects or lists within each other"),
    ),
    Case(
        "table_that_unpacks_to_too_much",
        "A gzipped table of 30 kB holds 32 MB.",
        AT_ONCE,
        lambda folder: pairs(gzip.compress(b"{" + bytes(1 << 25), mtime=0), "psq.json.gz")(folder),
        (
            "psq.json.gz:1: rest of the file cannot be read: holds more than 200 times its size; if that is meant, ",
            "bring it unpacked",
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
        "export_in_an_unknown_form",
        "The file for the translations of a model ends in something that names no form.",
        AT_ONCE,
        nothing,
        ("--export: must end in .json, .json.gz, .tsv, .tsv.gz, which say the form of the table; got table.txt.",),
        ("lexicon", "out", "--export", "table.txt"),
    ),
    Case(
        "export_over_another_file",
        "The file for the translations of a model is there already.",
        AT_ONCE,
        file("table.tsv", "mine\n"),
        ("--export: there must be no such file yet; table.tsv is there: choose another name, or remove it.",),
        ("lexicon", "out", "--export", "table.tsv"),
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
    Case(
        "tables_of_others_with_bad_entries",
        "Dictionaries and tables of others have NaN, negative, repeated or missing entries.",
        BY_THE_RUN,
        all_of(
            fill_every_split,
            file("pairs-1.tsv", "wolf\tloup\t0.9\nwolf\tloup\t0.8\nwolf\tmeute\tnan\n"),
            file("pairs-2.txt", "dog chien\nhot dog\ngray wolf loup\n"),
            file(
                "pairs-3.json", '{"loup": {"wolf": 0.9, "wolf": 0.1, "pack": -0.5, "lone": NaN}, "chien": {"dog": 1}}'
            ),
            setting("lexicon: {pairs: pairs-*}\n"),
        ),
        (
            "pairs-1.tsv and pairs-2.txt and pairs-3.json: 6 of 11 pairs are bad; at most a share of 0.05 may be",
            "3 x weight is no number above 0 and up to 1e12",
            "pairs-1.tsv:3: wolf | meute | nan",
            "pairs-3.json:3: loup | pack | -0.5",
            "2 x pair with a weight given twice",
            "pairs-3.json:2: loup | wolf | 0.1",
            "1 x not two words, like the first line",
            "pairs-2.txt:3: gray wolf loup",
        ),
    ),
]
