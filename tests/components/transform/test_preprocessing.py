"""Transform's preprocessing, analysed in one process over a small train split and applied eagerly."""

from pathlib import Path

import pytest
import tensorflow as tf
from google.protobuf import text_format

from components.transform.settings import TransformSettings
from models.settings import WordTableSource
from models.training.pretrained import Coverage, read_pretrained, vocabulary_size
from models.training.transformed_texts import TransformedTexts
from schemas import features as f
from schemas.errors import DataError
from schemas.word_rules import WordRules
from tests.schemas.word_tables import word2vec, write

pytestmark = pytest.mark.stages

VOCABULARY_SIZE = 3
MAX_TOKENS = 4
LANGUAGES = {f.QUERY_STEM_VOCABULARY: "en", f.DOCUMENT_STEM_VOCABULARY: "fr"}

# Counts of the first four words of each text. Queries: red 4, fox 3, wolf 2; documents: renard 4, loup 3, roux 2.
LISTS = [
    ("Red red fox", ["Renard roux", "Loup"]),
    ("Red, red: fox wolf beyond beyond beyond", ["Renard", "Loup"]),
    ("Fox wolf bear", ["Renard", "Renard roux, loup gris: beyond beyond beyond beyond"]),
]


def analyse(folder, lists=LISTS, **settings):
    """Transform's output for lists; a third item of a list names its domain."""
    from tensorflow_metadata.proto.v0 import schema_pb2

    from components.transform.numbered_lists import number_lists
    from components.transform.one_process import make_graph
    from components.wikiclir_example_gen.examples import make_example
    from schemas.wikiclir import Text

    files = [str(folder / "a.gz"), str(folder / "b.gz")]
    writers = [tf.io.TFRecordWriter(file, "GZIP") for file in files]
    for row, (query, documents, *domain) in enumerate(lists):
        texts = [(str(index), b"", text.encode(), b"") for index, text in enumerate(documents)]
        size = len(documents)
        example = make_example(Text(str(row), "", query, 1), texts, [0] * size, range(size), *domain)
        writers[min(row, 1)].write(example.SerializeToString())
    for writer in writers:
        writer.close()
    schema = text_format.Parse((Path(f.__file__).parent / "schema.pbtxt").read_text(), schema_pb2.Schema())
    settings = TransformSettings(vocabulary_size=VOCABULARY_SIZE, rules=WordRules(max_tokens=MAX_TOKENS), **settings)
    return make_graph(number_lists(files, settings), files, schema, settings, str(folder / "graph"))


def transformation(output):
    """Applies the transform graph to lists of (query, documents)."""
    layer = output.transform_features_layer()

    def transform(*lists):
        documents = tf.ragged.constant([docs for _, docs in lists])
        return layer(
            {
                f.QUERY_ID: tf.constant([str(row) for row in range(len(lists))]),
                f.QUERY_TEXT: tf.constant([text for text, _ in lists]),
                f.DOC_ID: documents,
                f.DOC_TEXT: documents,
                f.RELEVANCE: tf.ragged.constant([[0] * len(docs) for _, docs in lists], tf.int64),
            }
        )

    return transform


def words_of(output, vocabulary):
    return [word.decode() for word in output.vocabulary_by_name(vocabulary)]


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    return analyse(tmp_path_factory.mktemp("transform"))


@pytest.fixture(scope="module")
def transform(output):
    return transformation(output)


def test_each_language_has_a_vocabulary_of_its_most_frequent_words(output):
    assert words_of(output, f.QUERY_VOCABULARY) == ["red", "fox", "wolf"]
    assert words_of(output, f.DOCUMENT_VOCABULARY) == ["renard", "loup", "roux"]


def test_words_become_their_numbers_in_the_vocabulary_and_others_are_left_out(transform):
    # "renard" is a word of documents alone, "bear" and "gris" are too rare.
    result = transform(("fox wolf RED", ["roux renard", "loup"]), ("bear fox renard", ["gris loup fox", "gris", ""]))
    assert result[f.QUERY_TOKENS].to_list() == [[1, 2, 0], [1]]
    assert result[f.DOC_TOKENS].to_list() == [[[2, 0], [1]], [[1], [], []]]


def test_texts_are_cut_before_words_are_left_out(transform):
    result = transform(("bear bear bear fox red", ["renard gris gris gris loup"]))
    assert result[f.QUERY_TOKENS].to_list() == [[1]]
    assert result[f.DOC_TOKENS].to_list() == [[[0]]]


def test_ids_and_grades_pass_through_and_without_stems_there_are_no_columns_of_them(transform):
    result = transform(("fox", ["renard", "loup"]), ("wolf", ["roux"]))
    assert result[f.QUERY_ID].numpy().tolist() == [b"0", b"1"]
    assert result[f.DOC_ID].to_list() == [[b"renard", b"loup"], [b"roux"]]
    assert result[f.RELEVANCE].to_list() == [[0, 0], [0]]
    assert not {f.QUERY_STEMS, f.DOC_STEMS} & result.keys()


def test_lists_of_held_out_domains_count_in_no_vocabulary_and_are_transformed_too(tmp_path):
    held_out = [("Drum drum drum drum wolf", ["Tambour tambour tambour renard", "Loup"], "music")]
    settings = {"stem_languages": LANGUAGES, "held_out": ["music"], "joint_stems": True}
    output = analyse(tmp_path, [*held_out, *LISTS, *held_out], **settings)
    assert words_of(output, f.QUERY_VOCABULARY) == ["red", "fox", "wolf"]
    assert words_of(output, f.DOCUMENT_VOCABULARY) == ["renard", "loup", "roux"]
    for vocabulary in LANGUAGES:
        assert words_of(output, vocabulary) == ["renar", "red", "loup"]
    assert transformation(output)(("drum wolf", ["tambour loup"]))[f.QUERY_TOKENS].to_list() == [[2]]


# Stems


@pytest.fixture(scope="module")
def stemmed(tmp_path_factory):
    lists = [
        ("Translated translation red", ["Nations nation-nationale", "Rouge"]),
        ("translate a translator", ["National rougeâtre", "Rouges"]),
    ]
    return analyse(tmp_path_factory.mktemp("stemmed"), lists, stem_languages=LANGUAGES)


@pytest.fixture(scope="module")
def transform_stems(stemmed):
    return transformation(stemmed)


def test_stems_have_vocabularies_of_their_own_of_the_most_frequent(stemmed):
    # Of documents: natio 4, rouge 3; each of their words but "rouge" stands in a text once.
    assert words_of(stemmed, f.DOCUMENT_STEM_VOCABULARY) == ["natio", "rouge"]
    assert words_of(stemmed, f.QUERY_STEM_VOCABULARY)[0] == "tran"
    for vocabulary in (f.QUERY_STEM_VOCABULARY, f.DOCUMENT_VOCABULARY):
        assert len(words_of(stemmed, vocabulary)) == VOCABULARY_SIZE


def test_a_word_outside_its_vocabulary_keeps_its_stem(transform_stems):
    result = transform_stems(("transatlantic blue", ["nationaux rougit bleu", "bleu"]), ("blue", ["rouge"]))
    assert result[f.QUERY_STEMS].to_list() == [[0], []]
    assert result[f.DOC_STEMS].to_list() == [[[0], []], [[1]]]
    assert result[f.QUERY_TOKENS].to_list() == [[], []]


def test_stems_are_those_of_the_words_up_to_the_last_that_counts(transform_stems):
    result = transform_stems(("blue " * MAX_TOKENS + "translate", ["rouge " * 9]))
    assert result[f.QUERY_STEMS].to_list() == [[]]
    assert result[f.DOC_STEMS].to_list() == [[[1] * MAX_TOKENS]]


def test_texts_alone_have_the_stems_that_the_lists_have(stemmed, transform_stems):
    query, documents = "Transatlantic translation", ["nationaux rougit bleu", "Rouge Nation", ""]
    lists = transform_stems((query, documents))
    texts = TransformedTexts(stemmed, WordRules(max_tokens=MAX_TOKENS))
    document_columns = tf.function(texts.document_columns)(tf.constant(documents))
    assert document_columns.keys() == {f.DOC_TOKENS, f.DOC_STEMS}
    assert document_columns[f.DOC_STEMS].to_list() == lists[f.DOC_STEMS].to_list()[0]
    query_columns = tf.function(texts.query_columns)(tf.constant([query]))
    assert query_columns.keys() == {f.QUERY_TOKENS, f.QUERY_STEMS}
    assert query_columns[f.QUERY_STEMS].to_list() == lists[f.QUERY_STEMS].to_list()


# Pre-trained vectors: trained ones of documents, whose first usable words are loup, renard and zorille, and frozen ones
# of queries

DOCUMENT_VECTORS = {
    "Loup": [1.0, 2.0],
    "renard": [3.0, 4.0],
    "Zorille": [5.0, 6.0],
    "a-b": [7.0, 8.0],
    "ours": [9.0, 0.0],
}
QUERY_VECTORS = {"wolf": [1.0, 2.0], "Fox": [3.0, 4.0], "zebra": [5.0, 6.0]}


def source(path, vectors, train):
    table = write(path, word2vec(vectors))
    return WordTableSource(path=table, sha256="", width=2, most_words=3, max_bad_share=0.05, train=train)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors")
    return {
        f.DOCUMENT_VOCABULARY: source(folder / "fr.vec", DOCUMENT_VECTORS, train=True),
        f.QUERY_VOCABULARY: source(folder / "en.vec", QUERY_VECTORS, train=False),
    }


@pytest.fixture(scope="module")
def with_vectors(sources, tmp_path_factory):
    output = analyse(tmp_path_factory.mktemp("with_vectors"), word_tables=sources)
    for table in sources.values():
        Path(table.path).unlink()  # nothing asks for the files any more
    return output


def test_words_of_a_table_come_first_and_the_train_split_s_follow_unless_it_is_frozen(with_vectors):
    assert words_of(with_vectors, f.DOCUMENT_VOCABULARY) == ["loup", "renard", "zorille", "roux"]
    assert words_of(with_vectors, f.QUERY_VOCABULARY) == ["wolf", "fox", "zebra"]
    result = transformation(with_vectors)(("fox red wolf zorille", ["Zorille ours", "a-b"]))
    assert result[f.DOC_TOKENS].to_list() == [[[2], []]]
    assert result[f.QUERY_TOKENS].to_list() == [[1, 0]]


@pytest.mark.parametrize(
    ("vocabulary", "vectors", "random_words", "running_words"),
    [  # renard 4, loup 3, roux 2, gris 1; red 4, fox 3, wolf 2, bear 1
        (f.DOCUMENT_VOCABULARY, [*DOCUMENT_VECTORS.values()][:3], 1, Coverage(all=10, found=7)),
        (f.QUERY_VOCABULARY, [*QUERY_VECTORS.values()], 0, Coverage(all=10, found=5)),
    ],
)
def test_the_trainer_finds_the_vectors_of_the_first_words_and_counts_those_without(
    with_vectors, sources, vocabulary, vectors, random_words, running_words
):
    words, report = read_pretrained(with_vectors, vocabulary, sources[vocabulary])
    assert words.vectors.tolist() == vectors
    assert words.number == 3 + random_words
    assert (report.table.read, report.table.used, report.random_words) == (3, 3, random_words)
    assert (report.distinct_words, report.running_words) == (Coverage(all=4, found=2), running_words)
    assert "50.0%" in report.describe() and f"{100 * running_words.share:.1f}%" in report.describe()
    assert report.as_dict() == {
        **report.table.as_dict(),
        "train": sources[vocabulary].train,
        "random_words": random_words,
        "distinct_words": {"all": 4, "found": 2},
        "running_words": running_words._asdict(),
    }


def test_a_table_that_changed_since_is_an_error_of_the_data(with_vectors, tmp_path):
    changed = source(tmp_path / "fr.vec", {"chien": [1.0, 2.0]}, train=True)
    with pytest.raises(DataError, match="fr.vec has changed"):
        read_pretrained(with_vectors, f.DOCUMENT_VOCABULARY, changed)


@pytest.mark.parametrize("with_table", [False, True])
def test_queries_without_a_word_are_an_error_of_the_data_and_a_vocabulary_of_one_word_is_one(tmp_path, with_table):
    table = source(tmp_path / "en.vec", DOCUMENT_VECTORS, train=True)
    lists = [("\U0001f43a!", ["Loup", "loup -"]), ("\U0001f43a\U0001f33f", ["...", "Loup"])]
    output = analyse(tmp_path, lists, word_tables={f.QUERY_VOCABULARY: table} if with_table else {})
    with pytest.raises(DataError, match="train split"):
        if with_table:
            read_pretrained(output, f.QUERY_VOCABULARY, table)
        else:
            vocabulary_size(output, f.QUERY_VOCABULARY)
    assert words_of(output, f.DOCUMENT_VOCABULARY) == ["loup"]
    assert vocabulary_size(output, f.DOCUMENT_VOCABULARY) == 1
