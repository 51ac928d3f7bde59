"""Input files that are bad as a whole, and collections that are."""

import gzip
import os
from pathlib import Path

from tests.bad_input.case import AT_ONCE, BY_THE_RUN, Case
from tests.bad_input.spoil import (
    CANDIDATES,
    add,
    all_of,
    bomb_of_many_lines,
    bomb_of_one_line,
    change,
    configure,
    cut,
    emoji_for_words,
    file,
    long_texts,
    one_big_document,
    output_of_ours,
    replace_by,
    setting,
    spoil_checksum,
    store,
    swap,
    write_candidates,
)

INPUT_FILES = [
    Case(
        "missing_file",
        "A file is not there.",
        AT_ONCE,
        replace_by("wiki.documents", lambda path: None),
        ("run.yaml:3: data.documents: there is no file wiki.documents.",),
    ),
    Case(
        "folder_for_a_file",
        "A file is a folder.",
        AT_ONCE,
        replace_by("wiki.documents", Path.mkdir),
        ("run.yaml:3: data.documents: must be a file; wiki.documents is a folder.",),
    ),
    Case(
        "pipe_for_a_file",
        "A file is a pipe, as `<(zcat ...)` makes one.",
        AT_ONCE,
        replace_by("wiki.documents", os.mkfifo),
        ("run.yaml:3: data.documents: must be a file that can be read more than once; wiki.documents is a pipe",),
    ),
    Case(
        "empty_file",
        "A file is empty.",
        AT_ONCE,
        file("en2fr.rel", ""),
        ("run.yaml:4: data.judgments: en2fr.rel is empty.",),
    ),
    Case(
        "empty_gzip",
        "A gzipped file holds nothing.",
        AT_ONCE,
        file("en2fr.rel", gzip.compress(b"", mtime=0)),
        ("run.yaml:4: data.judgments: en2fr.rel holds no line.",),
    ),
    Case(
        "wrong_columns",
        "A whole file has the wrong columns: commas separate them.",
        AT_ONCE,
        store("wiki.queries", lambda content: content.replace(b"\t", b",")),
        (
            "run.yaml:2: data.queries: wiki.queries must hold lines of id, title, text, separated by tabs; its first 5 "
            "hold none: wiki.queries:1: wrong number of tab-separated fields: q1,Wolf 1,lives in packs",
        ),
    ),
    Case(
        "swapped_queries_and_documents",
        "Queries and documents stand in each other's place.",
        AT_ONCE,
        swap("wiki.queries", "wiki.documents"),
        ("run.yaml:2: data.queries: the ids that en2fr.rel names as queries stand in wiki.documents", "swapped?"),
    ),
    Case(
        "judgments_for_queries",
        "Judgments and queries stand in each other's place.",
        AT_ONCE,
        swap("wiki.queries", "en2fr.rel"),
        (
            "run.yaml:2: data.queries: wiki.queries looks like judgments (id, id, grade); is it swapped with",
            "run.yaml:4: data.judgments: en2fr.rel must hold lines of query_id, doc_id, grade",
        ),
    ),
    Case(
        "candidates_for_judgments",
        "Candidates stand in the judgments' place.",
        AT_ONCE,
        all_of(write_candidates, configure("en2fr.rel", CANDIDATES)),
        ("en2fr.candidates:1: wrong number of tab-separated fields: q1 | d1 | 2 | train",),
    ),
    Case(
        "utf_16",
        "A file is UTF-16, as Windows calls Unicode.",
        AT_ONCE,
        store("wiki.documents", lambda content: content.decode().encode("utf-16")),
        ("wiki.documents:1: not valid UTF-8: ",),
    ),
    Case(
        "another_compression",
        "A file is compressed, but neither by gzip nor by bzip2.",
        AT_ONCE,
        file("wiki.documents", b"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F"),
        ("wiki.documents:1: not valid UTF-8: ",),
    ),
    Case(
        "cut_gzip",
        "A gzipped file is cut off.",
        AT_ONCE,
        store("wiki.documents", cut),
        (
            "run.yaml:3: data.documents: wiki.documents:",
            "rest of the file cannot be read: Compressed file ended before",
        ),
    ),
    Case(
        "broken_gzip",
        "A gzipped file is broken: its content is not what its checksum says.",
        AT_ONCE,
        store("wiki.documents", spoil_checksum),
        ("run.yaml:3: data.documents: wiki.documents:7: rest of the file cannot be read: CRC check failed",),
    ),
    Case(
        "gzip_bomb_of_one_line",
        "A gzipped file of 3 MB holds one line of 3 GB.",
        AT_ONCE,
        bomb_of_one_line,
        ("wiki.queries:1: rest of the file cannot be read: holds more than 200 times its size",),
    ),
    Case(
        "one_document",
        "There is one document in all.",
        AT_ONCE,
        file("wiki.documents", "d1\tLoup\tvit en meute\n"),
        ("run.yaml:3: data.documents: wiki.documents must hold two documents or more, to rank one before another",),
    ),
    Case(
        "gzip_cut_far_down",
        "A gzipped file is cut off beyond the 2,000 lines that the first look reads.",
        BY_THE_RUN,
        long_texts,
        ("1 x rest of the file cannot be read", "Compressed file ended before the end-of-stream marker was reached"),
    ),
    Case(
        "gzip_bomb_of_many_lines",
        "A gzipped file of 6 MB holds 3 million lines of 1,000 bytes.",
        BY_THE_RUN,
        bomb_of_many_lines,
        ("1 x rest of the file cannot be read", "holds more than 200 times its size; if that is meant, bring it"),
        varies=r"\d\d,?\d{3}",  # how many lines are read follows how far Python's gzip reads ahead
    ),
    Case(
        "too_many_bad_lines",
        "More than `data.max_bad_share` of a file's lines are bad.",
        BY_THE_RUN,
        add({"wiki.documents": "d9 Loup vit en meute\n"}),
        (
            "wiki.documents: 1 of 7 records are bad; at most a share of 0.05 may be (data.max_bad_share):",
            "1 x wrong number of tab-separated fields",
            "wiki.documents:7: d9 Loup vit en meute",
        ),
    ),
]

COLLECTIONS = [
    Case(
        "one_split_filled",
        "Only one split gets queries.",
        BY_THE_RUN,
        all_of(write_candidates, configure("en2fr.rel\n", f"en2fr.rel\n  candidates: {CANDIDATES}\n")),
        ("every split needs a query list, but eval and test got none (lists: train 5, eval 0, test 0); bring more",),
    ),
    Case(
        "texts_without_a_word",
        "The texts hold emoji and no word.",
        BY_THE_RUN,
        emoji_for_words,
        ("query_vocabulary must hold a word, but the train split's texts have none (signs, such as emoji, are",),
    ),
    Case(
        "no_mr",
        "No judgment names an MR document.",
        BY_THE_RUN,
        change("en2fr.rel", "\t2\n", "\t1\n"),
        ("wiki.queries: 5 of 5 records are bad", "5 x query without an MR document", "data.top_grade"),
    ),
    Case(
        "top_grade_too_low",
        "The judgments have higher grades than the top grade.",
        BY_THE_RUN,
        all_of(setting("loss:\n  theta: [0.5]\n"), configure("fr\n", "fr\n  top_grade: 1\n")),
        ("en2fr.rel: 5 of 10 records are bad", "5 x grade is not one of 0 .. data.top_grade"),
    ),
    Case(
        "top_grade_too_high",
        "No judgment has the top grade.",
        BY_THE_RUN,
        all_of(setting("loss:\n  name: softmax\n"), configure("fr\n", "fr\n  top_grade: 3\n")),
        ("5 x query without an MR document (its grade is data.top_grade)",),
    ),
    Case(
        "judgments_of_another_collection",
        "The judgments belong to other documents.",
        BY_THE_RUN,
        change("en2fr.rel", "\td", "\tx"),
        ("en2fr.rel: 10 of 10 records are bad", "10 x unknown document", "en2fr.rel:1: q1 | x1 | 2"),
    ),
    Case(
        "broken_metadata",
        "The database that runs write in the output folder is damaged.",
        BY_THE_RUN,
        all_of(output_of_ours, file("out/metadata.sqlite", b"no database\n" * 1000)),
        (
            "out/metadata.sqlite must hold the metadata of earlier runs, and cannot be used (file is not a database); "
            "move it away, and run again; no stage is reused.",
        ),
    ),
    Case(
        "full_disk",
        "The disk is full, or a quota or a limit is reached, while a stage writes.",
        BY_THE_RUN,
        one_big_document,
        ("no space left",),
        most_bytes=1 << 20,
    ),
]
