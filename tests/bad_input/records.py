"""Records that are left out, and such as are only unusual."""

import gzip

from tests.bad_input.case import ACCEPTED, LEFT_OUT, Case
from tests.bad_input.spoil import CANDIDATES, add, all_of, hundred_thousand_candidates, judged, store

RECORDS = [
    Case(
        "wrong_number_of_fields",
        "A line has too few fields, or too many.",
        LEFT_OUT,
        add({"wiki.queries": "q80\tonly a title\n", "en2fr.rel": "q1\td2\t1\ttrain\n"}),
        (
            "wrong number of tab-separated fields: q80 | only a title",
            "wrong number of tab-separated fields: q1 | d2 | 1 | train",
        ),
    ),
    Case(
        "broken_utf_8",
        "A line is not UTF-8.",
        LEFT_OUT,
        add({"wiki.queries": b"q80\tWolf\tlives in \xff packs\n"}),
        ("not valid UTF-8: q80 | Wolf | lives in \ufffd packs",),
    ),
    Case(
        "nul_byte",
        "A line holds a NUL byte.",
        LEFT_OUT,
        add({"wiki.documents": "d80\tLoup\tvit \0 en meute\n"}),
        ("contains a NUL byte: d80 | Loup | vit \ufffd en meute",),
    ),
    Case(
        "endless_line",
        "A line is longer than 16 MiB.",
        LEFT_OUT,
        lambda folder: add({"wiki.queries": f"q80\tWolf\t{'w' * (17 << 20)}\n"})(folder),
        ("line longer than 16 MiB: q80 | Wolf | www",),
    ),
    Case(
        "id_with_a_space",
        "An id holds a space.",
        LEFT_OUT,
        add({"wiki.documents": "d 80\tLoup\tvit en meute\n"}),
        ("empty id, or white space in an id: d 80 | Loup | vit en meute",),
    ),
    Case(
        "empty_id",
        "An id is empty.",
        LEFT_OUT,
        add({"en2fr.rel": "q1\t\t2\n"}),
        ("empty id, or white space in an id: q1 |  | 2",),
    ),
    Case(
        "empty_text",
        "A query or a document is empty.",
        LEFT_OUT,
        add({"wiki.queries": "q80\tWolf\t\n", "wiki.documents": "d80\tLoup\t \n"}),
        ("empty text: q80 | Wolf | ", "empty text: d80 | Loup | "),
    ),
    Case(
        "duplicate_id",
        "An id is given twice: the first record is kept.",
        LEFT_OUT,
        add({"wiki.documents": "d1\tChien\tgarde les maisons\n"}),
        ("duplicate id: d1 | Chien | garde les maisons",),
    ),
    Case(
        "duplicate_pair",
        "A query and a document are judged twice: the first judgment is kept.",
        LEFT_OUT,
        add({"en2fr.rel": "q1\td1\t0\n"}),
        ("query and document given twice: q1 | d1 | 0",),
    ),
    Case(
        "grade_beyond_the_top",
        "A grade lies above the top one.",
        LEFT_OUT,
        add({"en2fr.rel": "q1\td3\t3\n"}),
        ("grade is not one of 0 .. data.top_grade: q1 | d3 | 3",),
    ),
    Case(
        "negative_grade",
        "A grade is negative.",
        LEFT_OUT,
        add({"en2fr.rel": "q1\td3\t-1\n"}),
        ("grade is not one of 0 .. data.top_grade: q1 | d3 | -1",),
    ),
    Case(
        "header",
        "A header stands further down among the judgments.",
        LEFT_OUT,
        add({"en2fr.rel": "query_id\tdoc_id\tgrade\n"}),
        ("grade is not one of 0 .. data.top_grade: query_id | doc_id | grade",),
    ),
    Case(
        "judgment_for_an_unknown_query",
        "A judgment names a query that is not there.",
        LEFT_OUT,
        add({"en2fr.rel": "q99\td1\t2\n"}),
        ("unknown query: q99 | d1 | 2",),
    ),
    Case(
        "judgment_for_an_unknown_document",
        "A judgment names a document that is not there.",
        LEFT_OUT,
        add({"en2fr.rel": "q1\td99\t1\n"}),
        ("unknown document: q1 | d99 | 1",),
    ),
    Case(
        "query_without_a_judgment",
        "No judgment names a query.",
        LEFT_OUT,
        add({"wiki.queries": "q70\tWolf\tlives in packs\n"}),
        ("query without a judgment or candidate: q70",),
    ),
    Case(
        "query_without_mr",
        "A query has no MR document: it is left out with its judgments.",
        LEFT_OUT,
        add({"wiki.queries": "q71\tWolf\tlives in packs\n", CANDIDATES: "q71\td1\t1\ttrain\n"}),
        ("query without an MR document (its grade is data.top_grade): q71", "q71 | d1 | 1"),
    ),
    Case(
        "unknown_split",
        "The split of a candidate is none of ours.",
        LEFT_OUT,
        add({CANDIDATES: "q72\td1\t2\tdev\n"}),
        ("split is not train, eval or test: q72 | d1 | 2 | dev",),
    ),
    Case(
        "query_in_two_splits",
        "The candidates of a query stand in two splits.",
        LEFT_OUT,
        add(
            {
                "wiki.queries": "q73\tWolf\tlives in packs\n",
                CANDIDATES: "q73\td1\t2\ttrain\nq73\td2\t0\ttest\n",
            }
        ),
        ("query in two splits: q73", "its query was left out: q73 | d1 | 2"),
    ),
    Case(
        "judged_document_that_is_no_candidate",
        "A judged document is no candidate of its query.",
        LEFT_OUT,
        all_of(judged("q74\tWolf\tlives in packs"), add({"en2fr.rel": "q74\td3\t1\n"})),
        ("judged document that is no candidate: q74 | d3 | 1",),
    ),
    Case(
        "byte_order_mark",
        "A file begins with a byte-order mark, which is taken off.",
        ACCEPTED,
        store("wiki.queries", lambda content: b"\xef\xbb\xbf" + content),
    ),
    Case(
        "windows_line_ends",
        "Lines end as on Windows.",
        ACCEPTED,
        store("en2fr.rel", lambda content: content.replace(b"\n", b"\r\n")),
    ),
    Case(
        "quotes",
        "A text holds single quotes or double ones: they are plain text.",
        ACCEPTED,
        judged('q90\t"Wolf\tlives "in packs\''),
    ),
    Case(
        "long_query",
        "A query has 100,000 characters; words beyond `data.max_document_tokens` are cut off.",
        ACCEPTED,
        judged("q91\tWolf\t" + "packs " * 16_667),
    ),
    Case(
        "long_word",
        "A query is one word of 100,000 characters.",
        ACCEPTED,
        judged("q92\tWolf\t" + "w" * 100_000),
    ),
    Case(
        "hundred_thousand_candidates",
        "A query has 100,000 candidates.",
        ACCEPTED,
        hundred_thousand_candidates,
    ),
    Case(
        "marks_in_ids",
        "An id holds marks that nobody sees, such as zero-width characters and direction marks: they are taken off.",
        ACCEPTED,
        judged("\u200eq93\u200b\tWolf\tlives in packs"),
    ),
    Case(
        "no_last_line_end",
        "The last line has no end.",
        ACCEPTED,
        store(CANDIDATES, lambda content: content.removesuffix(b"\n")),
    ),
    Case(
        "blank_lines_at_the_end",
        "The last lines of a file are blank.",
        ACCEPTED,
        add({"wiki.queries": "\n\n", "en2fr.rel": "\n", "wiki.documents": "\r\n"}),
    ),
    Case(
        "gzip_under_any_name",
        "A file is gzipped, whatever its name.",
        ACCEPTED,
        store("wiki.documents", gzip.compress),
    ),
]
