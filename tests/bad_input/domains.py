"""Bad domains, and collections that cannot be joined."""

from pathlib import Path

from tests.bad_input.case import AT_ONCE, BY_THE_RUN, LEFT_OUT, Case, Make
from tests.bad_input.spoil import (
    CANDIDATES,
    CONFIG,
    DOMAINS_FILE,
    QUERY_DOMAINS,
    add,
    all_of,
    configure,
    divide_candidates,
    file,
    judged,
    nothing,
    setting,
)


def _domains(held_out: str = "", text: str = QUERY_DOMAINS) -> Make:
    """Gives the queries domains, and perhaps holds some out."""
    lines = f"en2fr.rel\n  domains: {DOMAINS_FILE}\n" + (f"  held_out: [{held_out}]\n" if held_out else "")
    return all_of(file(DOMAINS_FILE, text), configure("en2fr.rel\n", lines))


def _divided(held_out: str = "", text: str = QUERY_DOMAINS) -> Make:
    """The same for fixed lists, with q1 to q3 in the train split, q4 in the eval split and q5 in the test split."""
    candidates = configure("  judgments", f"  candidates: {CANDIDATES}\n  judgments")
    return all_of(_domains(held_out, text), divide_candidates, candidates)


def _other_collection(old: str = "", new: str = "") -> Make:
    """A second collection beside the first, with other texts and judgments; a part of its configuration may differ."""

    def make(folder: Path) -> None:
        other = folder / "other"
        other.mkdir()
        for name in ("wiki.queries", "wiki.documents"):
            (other / name).write_text((folder / name).read_text().replace("e", "é"))
        (other / "en2fr.rel").write_text((folder / "en2fr.rel").read_text() + "q1\td6\t1\n")
        (other / "run.yaml").write_text(CONFIG.replace(old, new))

    return make


def _join(first: str, second: str, *others: str) -> tuple[str, ...]:
    return ("convert", "--join", first, "--join", second, "--output", "pool", *others)


_BOTH = _join("a=run.yaml", "b=other/run.yaml")

DOMAINS = [
    Case(
        "held_out_without_domains",
        "Domains are held out, and the collection names none.",
        AT_ONCE,
        configure("en2fr.rel\n", "en2fr.rel\n  held_out: [news]\n"),
        ("run.yaml:5: data.held_out: must be empty without data.domains, which name them; got news",),
    ),
    Case(
        "unknown_held_out_domain",
        "A held-out domain is misspelt.",
        AT_ONCE,
        _domains("heath"),
        ("data.held_out: must be domains of the collection (health, news); got 'heath'; did you mean health?",),
    ),
    Case(
        "every_domain_held_out",
        "All domains are held out, and none is left to train on.",
        AT_ONCE,
        _domains("news, health"),
        ("data.held_out: must leave a domain to train on; it names all of them: health, news",),
    ),
    Case(
        "held_out_weight_without_domains",
        "The weight of the lexicon is to be fitted on domains, and the collection names none.",
        AT_ONCE,
        setting("lexicon: {kind: lexicon, weight: held_out}\n"),
        ("run.yaml:8: lexicon: weight must not be held_out without data.domains, which are left out in turn",),
    ),
    Case(
        "held_out_weight_with_one_domain",
        "The weight of the lexicon is to be fitted on domains, and one alone is trained on.",
        AT_ONCE,
        all_of(
            _domains(text=QUERY_DOMAINS.replace("health", "news")),
            setting("lexicon: {kind: lexicon, weight: held_out}\n"),
        ),
        ("data.domains: a weight that is held_out needs 2 domains or more that are trained on; got news",),
    ),
    Case(
        "adversary_without_domains",
        "Training has an adversary, and the collection names no domains.",
        AT_ONCE,
        setting("adversary: {weight: 0.1}\n"),
        ("run.yaml:8: adversary: weight must be 0 without data.domains, which it tells apart; got 0.1",),
    ),
    Case(
        "adversary_with_one_domain",
        "Training has an adversary, and only one domain is trained on.",
        AT_ONCE,
        all_of(_domains("news"), setting("adversary: {weight: 0.1}\n")),
        (
            "data.domains: adversary.weight without adversary.held_out_texts needs 2 domains or more that are trained "
            "on; got health",
        ),
    ),
    Case(
        "adversary_with_two_domains_and_a_weight_fitted_on_them",
        "The weight of the lexicon is to be fitted on domains, and the adversary would be left with one.",
        AT_ONCE,
        all_of(_domains(), setting("adversary: {weight: 0.1}\nlexicon: {kind: lexicon, weight: held_out}\n")),
        ("needs 3 domains or more that are trained on; got health, news",),
    ),
    Case(
        "negative_weight_of_an_adversary",
        "The weight of the adversary is negative.",
        AT_ONCE,
        all_of(_domains(), setting("adversary: {weight: -0.1}\n")),
        ("adversary.weight: must be greater than or equal to 0; got -0.1",),
    ),
    Case(
        "weight_of_an_adversary_is_nan",
        "The weight of the adversary is NaN.",
        AT_ONCE,
        all_of(_domains(), setting("adversary: {weight: .nan}\n")),
        ("adversary.weight: ", "got nan"),
    ),
    Case(
        "held_out_texts_with_nothing_held_out",
        "The adversary is to see the texts of held-out domains, and none is held out.",
        AT_ONCE,
        all_of(_domains(), setting("adversary: {weight: 0.1, held_out_texts: true}\n")),
        ("adversary: held_out_texts must be false where data.held_out names no domain; got true",),
    ),
    Case(
        "equal_sampling_without_domains",
        "Lists are to be of all domains in turn, and the collection names no domains.",
        AT_ONCE,
        setting("training: {sampling: equal}\n"),
        ("training: sampling must be natural without data.domains, which come in turn; got equal",),
    ),
    Case(
        "equal_sampling_in_small_steps",
        "Lists are to be of all domains in turn, and a step has fewer lists than there are domains.",
        AT_ONCE,
        all_of(_domains(), setting("training: {sampling: equal, batch_lists: 1}\n")),
        (
            "data.domains: training.sampling equal needs a training.batch_lists of as many lists as domains are ",
            "trained on, 2, or more; got 1",
        ),
    ),
    Case(
        "trained_domain_without_lists",
        "A domain that is trained on has no list in the train split.",
        BY_THE_RUN,
        _divided(),
        ("the domain health is trained on, and must have lists in train; it has train 0, eval 1, test 1.",),
    ),
    Case(
        "domain_with_a_slash",
        "A domain's name holds `/`.",
        LEFT_OUT,
        add({DOMAINS_FILE: "q5\tnews/old\n"}),
        ("domain is empty, or holds `/`, a control character, or white space around it: q5 | news/old",),
    ),
    Case(
        "query_with_two_domains",
        "A query has two domains.",
        LEFT_OUT,
        all_of(judged("q82\tWolf\tlives in packs"), add({DOMAINS_FILE: "q82\tnews\nq82\thealth\n"})),
        ("query with two domains: q82", "its query was left out: q82 | news"),
    ),
    Case(
        "query_without_a_domain",
        "A query has no domain.",
        LEFT_OUT,
        judged("q83\tWolf\tlives in packs"),
        ("query without a domain (data.domains): q83",),
    ),
    Case(
        "joined_names_that_differ_by_case",
        "Two joined collections have one name, but for case.",
        AT_ONCE,
        _other_collection(),
        ("--join: names must differ by more than the case of letters; got 'news' and 'News'.",),
        _join("news=run.yaml", "News=other/run.yaml"),
    ),
    Case(
        "joined_name_with_a_slash",
        "The name of a joined collection holds `/`, or white space.",
        AT_ONCE,
        _other_collection(),
        ("--join: a name must hold no `/`, control character or white space, ", "got 'a/b'.", "got 'a b'."),
        _join("a/b=run.yaml", "a b=other/run.yaml"),
    ),
    Case(
        "joined_with_itself",
        "One collection is joined under two names.",
        AT_ONCE,
        nothing,
        ("--join: collections must differ; a and b have the same queries: ", "set data.domains."),
        _join("a=run.yaml", "b=run.yaml"),
    ),
    Case(
        "joined_pairs_of_languages",
        "The joined collections are of two pairs of languages.",
        AT_ONCE,
        _other_collection("document_language: fr", "document_language: de"),
        ("--join: data.document_language must be the same in all collections; got fr (a), de (b).",),
        _BOTH,
    ),
    Case(
        "joined_top_grades",
        "The joined collections have different top grades.",
        AT_ONCE,
        _other_collection("output", "  top_grade: 1\nloss: {theta: [0.5]}\noutput"),
        ("--join: data.top_grade must be the same in all collections; got 2 (a), 1 (b).",),
        _BOTH,
    ),
    Case(
        "joined_alone",
        "A single collection is joined.",
        AT_ONCE,
        nothing,
        ("--join: there must be two collections or more; got one.",),
        ("convert", "--join", "a=run.yaml", "--output", "pool"),
    ),
    Case(
        "joined_beside_files",
        "Collections are joined, and single files are given.",
        AT_ONCE,
        _other_collection(),
        ("--join takes collections as their configurations say", "got --queries."),
        _join("a=run.yaml", "b=other/run.yaml", "--queries", "wiki.queries"),
    ),
]
