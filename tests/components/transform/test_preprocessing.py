"""Transform's preprocessing, analysed once over a small train split and applied eagerly."""

from pathlib import Path

import pytest
import tensorflow as tf
from google.protobuf import text_format

from components.trainer.pretrained import Coverage, read_pretrained, vocabulary_size
from components.trainer.transformed_texts import TransformedTexts
from components.transform.settings import TransformSettings
from models.settings import WordTableSource
from schemas import features as f
from schemas.errors import DataError
from schemas.word_rules import WordRules
from tests.schemas.word_tables import word2vec, write

pytestmark = pytest.mark.stages

VOCABULARY_SIZE = 3
MAX_TOKENS = 4

# Counts of the first four words of each text. Queries: red 4, fox 3, wolf 2; documents: renard 4, loup 3, roux 2.
LISTS = [
    ("Red red fox", ["Renard roux", "Loup"]),
    ("Red, red: fox wolf beyond beyond beyond", ["Renard", "Loup"]),
    ("Fox wolf bear", ["Renard", "Renard roux, loup gris: beyond beyond beyond beyond"]),
]


TABLE = {"Loup": [1.0, 2.0], "renard": [3.0, 4.0], "Zorille": [5.0, 6.0], "a-b": [7.0, 8.0], "ours": [9.0, 0.0]}


HELD_OUT = "music"


def schema_and_records(lists):
    """The records of listwise examples; a third item of a list names its domain."""
    from tensorflow_metadata.proto.v0 import schema_pb2

    from components.wikiclir_example_gen.examples import make_example
    from schemas.wikiclir import Text

    schema = text_format.Parse((Path(f.__file__).parent / "schema.pbtxt").read_text(), schema_pb2.Schema())
    return schema, [
        make_example(
            Text(str(query), "", text, 1),
            [(str(place), b"", d.encode()) for place, d in enumerate(docs)],
            [0] * len(docs),
            range(len(docs)),
            *domain,
        ).SerializeToString()
        for query, (text, docs, *domain) in enumerate(lists)
    ]


def on_workers(folder, lists, settings):
    """TFX's executor on the workers of a runner: tft's analyzers count the words."""
    import apache_beam as beam
    import tensorflow_transform as tft
    import tensorflow_transform.beam as tft_beam
    from tfx_bsl.public.tfxio import TFExampleBeamRecord

    from components.transform.preprocessing import preprocessing_fn

    schema, records = schema_and_records(lists)
    source = TFExampleBeamRecord(telemetry_descriptors=["test"], physical_format="inmem", schema=schema)
    with beam.Pipeline(argv=[]) as pipeline, tft_beam.Context(temp_dir=str(folder / "temp")):
        data = pipeline | beam.Create(records) | source.BeamSource()
        function = (data, source.TensorAdapterConfig()) | tft_beam.AnalyzeDataset(
            lambda inputs: preprocessing_fn(inputs, settings.model_dump(mode="json"))
        )
        _ = function | tft_beam.WriteTransformFn(str(folder))
    return tft.TFTransformOutput(str(folder))


def in_one_process(folder, lists, settings):
    """Our executor in one process."""
    from components.transform.numbered_lists import number_lists
    from components.transform.one_process import make_graph

    schema, records = schema_and_records(lists)
    files = [folder / "a.gz", folder / "b.gz"]
    folder.mkdir(exist_ok=True, parents=True)
    for file, some in zip(files, (records[:1], records[1:]), strict=True):
        with tf.io.TFRecordWriter(str(file), "GZIP") as writer:
            for record in some:
                writer.write(record)
    names = [str(file) for file in files]
    lists = number_lists(names, settings)
    return make_graph(lists, names, schema, settings, str(folder / "graph"))


@pytest.fixture(scope="module", params=[pytest.param(on_workers, marks=pytest.mark.long), in_one_process])
def analyse(request):
    """Transform's output for lists, sources of pre-trained vectors, and the languages of stems, if any."""

    def make(folder, sources, lists=LISTS, languages=None, **others):
        settings = TransformSettings(
            vocabulary_size=VOCABULARY_SIZE,
            rules=WordRules(max_tokens=MAX_TOKENS),
            word_tables=sources,
            stem_languages=languages or {},
            **others,
        )
        return request.param(folder, lists, settings)

    return make


@pytest.fixture(scope="module")
def output(analyse, tmp_path_factory):
    return analyse(tmp_path_factory.mktemp("transform"), {})


@pytest.fixture(scope="module")
def transform(output):
    return transformation(output)


def transformation(output):
    """Applies the transform graph to lists of (query, documents)."""
    layer = output.transform_features_layer()

    def transform(lists):
        documents = tf.ragged.constant([docs for _, docs in lists])
        return layer(
            {
                f.QUERY_ID: tf.constant([str(place) for place in range(len(lists))]),
                f.QUERY_TEXT: tf.constant([text for text, _ in lists]),
                f.DOC_ID: documents,
                f.DOC_TEXT: documents,
                f.RELEVANCE: tf.ragged.constant([[0] * len(docs) for _, docs in lists], tf.int64),
            }
        )

    return transform


def words_of(output, vocabulary):
    return [word.decode() for word in output.vocabulary_by_name(vocabulary)]


def test_each_language_has_a_vocabulary_of_its_most_frequent_words(output):
    assert words_of(output, f.QUERY_VOCABULARY) == ["red", "fox", "wolf"]
    assert words_of(output, f.DOCUMENT_VOCABULARY) == ["renard", "loup", "roux"]


def test_words_become_their_place_in_the_vocabulary(transform):
    result = transform([("fox wolf RED", ["roux renard", "loup"]), ("wolf", ["Loup"])])
    assert result[f.QUERY_TOKENS].to_list() == [[1, 2, 0], [2]]
    assert result[f.DOC_TOKENS].to_list() == [[[2, 0], [1]], [[1]]]


def test_words_outside_the_vocabulary_are_left_out(transform):
    # "renard" is a word of documents alone, "bear" and "gris" are too rare.
    result = transform([("bear fox renard", ["gris loup fox", "gris", ""]), ("", ["renard"])])
    assert result[f.QUERY_TOKENS].to_list() == [[1], []]
    assert result[f.DOC_TOKENS].to_list() == [[[1], [], []], [[0]]]


def test_texts_are_cut_before_words_are_left_out(transform):
    result = transform([("bear bear bear fox red", ["renard gris gris gris loup"])])
    assert result[f.QUERY_TOKENS].to_list() == [[1]]
    assert result[f.DOC_TOKENS].to_list() == [[[0]]]


def test_ids_and_grades_pass_through(transform):
    result = transform([("fox", ["renard", "loup"]), ("wolf", ["roux"])])
    assert result[f.QUERY_ID].numpy().tolist() == [b"0", b"1"]
    assert result[f.DOC_ID].to_list() == [[b"renard", b"loup"], [b"roux"]]
    assert result[f.RELEVANCE].to_list() == [[0, 0], [0]]


# Held-out domains


@pytest.fixture(scope="module")
def without_held_out(analyse, tmp_path_factory):
    """Transform's outputs without and with lists of a held-out domain."""
    held_out = [("Drum drum drum drum wolf", ["Tambour tambour tambour renard", "Loup"], HELD_OUT)]
    languages = {f.QUERY_STEM_VOCABULARY: "en", f.DOCUMENT_STEM_VOCABULARY: "fr"}
    settings = {"held_out": [HELD_OUT], "joint_stems": True}
    return [
        analyse(tmp_path_factory.mktemp("held_out"), {}, lists, languages, **settings)
        for lists in (LISTS, [*held_out, *LISTS, *held_out])
    ]


@pytest.mark.parametrize("vocabulary", [*f.STEMS_OF_VOCABULARY, *f.STEMS_OF_VOCABULARY.values()])
def test_words_of_held_out_domains_count_in_no_vocabulary(without_held_out, vocabulary):
    without, beside = without_held_out
    assert words_of(beside, vocabulary) == words_of(without, vocabulary)
    assert "tambour" not in words_of(beside, vocabulary)


def test_lists_of_held_out_domains_are_transformed_too(without_held_out):
    _, beside = without_held_out
    assert transformation(beside)([("drum wolf", ["tambour loup"])])[f.QUERY_TOKENS].to_list() == [[2]]


# Stems


@pytest.fixture(scope="module")
def stemmed(analyse, tmp_path_factory):
    lists = [
        ("Translated translation red", ["Nations nation-nationale", "Rouge"]),
        ("translate a translator", ["National rougeâtre", "Rouges"]),
    ]
    languages = {f.QUERY_STEM_VOCABULARY: "en", f.DOCUMENT_STEM_VOCABULARY: "fr"}
    return analyse(tmp_path_factory.mktemp("stemmed"), {}, lists, languages)


def test_stems_have_vocabularies_of_their_own_of_the_most_frequent(stemmed):
    # Of documents: natio 4, rouge 3; each of their words but "rouge" stands in a text once.
    assert words_of(stemmed, f.DOCUMENT_STEM_VOCABULARY) == ["natio", "rouge"]
    assert words_of(stemmed, f.QUERY_STEM_VOCABULARY)[0] == "tran"
    assert len(words_of(stemmed, f.QUERY_STEM_VOCABULARY)) == VOCABULARY_SIZE
    assert len(words_of(stemmed, f.DOCUMENT_VOCABULARY)) == VOCABULARY_SIZE


def test_a_word_outside_its_vocabulary_keeps_its_stem(stemmed):
    result = transformation(stemmed)([("transatlantic blue", ["nationaux rougit bleu", "bleu"]), ("blue", ["rouge"])])
    assert result[f.QUERY_STEMS].to_list() == [[0], []]
    assert result[f.DOC_STEMS].to_list() == [[[0], []], [[1]]]
    assert result[f.QUERY_TOKENS].to_list() == [[], []]


def test_stems_are_those_of_the_words_up_to_the_last_that_counts(stemmed):
    result = transformation(stemmed)([("blue " * MAX_TOKENS + "translate", ["rouge " * 9])])
    assert result[f.QUERY_STEMS].to_list() == [[]]
    assert result[f.DOC_STEMS].to_list() == [[[1] * MAX_TOKENS]]


def test_texts_alone_have_the_stems_that_the_lists_have(stemmed):
    documents = ["nationaux rougit bleu", "Rouge Nation", ""]
    of_lists = transformation(stemmed)([("Transatlantic translation", documents)])
    texts = TransformedTexts(stemmed, WordRules(max_tokens=MAX_TOKENS))
    of_documents = tf.function(texts.of_documents)(tf.constant(documents))
    assert of_documents.keys() == {f.DOC_TOKENS, f.DOC_STEMS}
    assert of_documents[f.DOC_STEMS].to_list() == of_lists[f.DOC_STEMS].to_list()[0]
    of_queries = tf.function(texts.of_queries)(tf.constant(["Transatlantic translation"]))
    assert of_queries.keys() == {f.QUERY_TOKENS, f.QUERY_STEMS}
    assert of_queries[f.QUERY_STEMS].to_list() == of_lists[f.QUERY_STEMS].to_list()


def test_without_stems_there_are_no_columns_of_them(transform):
    assert not {f.QUERY_STEMS, f.DOC_STEMS} & transform([("fox", ["renard"])]).keys()


# Pre-trained vectors of the documents' language: the first three usable words are loup, renard and zorille


def with_table(analyse, folder, train):
    path = write(folder / "fr.vec", word2vec(TABLE))
    source = WordTableSource(path=path, sha256="", width=2, most_words=3, max_bad_share=0.0, train=train)
    output = analyse(folder, {f.DOCUMENT_VOCABULARY: source})
    (folder / "fr.vec").unlink()  # nothing asks for the file any more
    return output, source


@pytest.fixture(scope="module")
def trained(analyse, tmp_path_factory):
    return with_table(analyse, tmp_path_factory.mktemp("trained"), train=True)


@pytest.fixture(scope="module")
def frozen(analyse, tmp_path_factory):
    return with_table(analyse, tmp_path_factory.mktemp("frozen"), train=False)


def test_words_of_a_table_come_first_and_the_train_split_s_follow(trained):
    output, _ = trained
    assert words_of(output, f.DOCUMENT_VOCABULARY) == ["loup", "renard", "zorille", "roux"]
    assert words_of(output, f.QUERY_VOCABULARY) == ["red", "fox", "wolf"]


def test_words_outside_a_frozen_table_are_left_out(frozen):
    output, _ = frozen
    assert words_of(output, f.DOCUMENT_VOCABULARY) == ["loup", "renard", "zorille"]
    result = transformation(output)([("fox", ["renard roux loup", "roux"])])
    assert result[f.DOC_TOKENS].to_list() == [[[1, 0], []]]


def test_a_word_that_the_train_split_lacks_is_known_where_the_table_has_it(trained):
    output, _ = trained
    result = transformation(output)([("fox zorille", ["Zorille ours", "a-b"])])
    assert result[f.DOC_TOKENS].to_list() == [[[2], []]]
    assert result[f.QUERY_TOKENS].to_list() == [[1]]


@pytest.mark.parametrize(("is_frozen", "random_words"), [(False, 1), (True, 0)])
def test_the_trainer_finds_the_vectors_of_the_first_words_and_counts_those_without(
    is_frozen, random_words, trained, frozen
):
    output, source = frozen if is_frozen else trained
    words, report = read_pretrained(output, f.DOCUMENT_VOCABULARY, source)
    assert words.vectors.tolist() == [TABLE["Loup"], TABLE["renard"], TABLE["Zorille"]]
    assert words.number == 3 + random_words
    assert (report.table.read, report.table.used, report.random_words) == (3, 3, random_words)
    # renard 4, loup 3, roux 2, gris 1
    assert report.distinct_words == Coverage(all=4, found=2)
    assert report.running_words == Coverage(all=10, found=7)
    assert report.describe() == (
        "word vectors: 3 read, 3 used; 50.0% of the train split's words have one, 70.0% of its running words"
    )
    assert report.as_dict() == {
        **report.table.as_dict(),
        "train": source.train,
        "random_words": random_words,
        "distinct_words": {"all": 4, "found": 2},
        "running_words": {"all": 10, "found": 7},
    }


def test_a_table_that_changed_since_is_an_error_of_the_data(trained, tmp_path):
    output, source = trained
    other = source.model_copy(update={"path": write(tmp_path / "fr.vec", word2vec({"chien": [1.0, 2.0]}))})
    with pytest.raises(DataError, match="fr.vec has changed since Transform read it; run again."):
        read_pretrained(output, f.DOCUMENT_VOCABULARY, other)


@pytest.fixture(scope="module", params=["counted", "trained", "frozen"])
def wordless(request, analyse, tmp_path_factory):
    """Transform's output for queries without a word and documents of one, and the queries' vectors, if any."""
    folder = tmp_path_factory.mktemp("wordless")
    table = write(folder / "en.vec", word2vec(TABLE))
    source = WordTableSource(
        path=table,
        sha256="",
        width=2,
        most_words=VOCABULARY_SIZE,
        max_bad_share=0.05,
        train=request.param == "trained",
    )
    sources = {} if request.param == "counted" else {f.QUERY_VOCABULARY: source}
    lists = [("\U0001f43a!", ["Loup", "loup -"]), ("\U0001f43a\U0001f33f", ["...", "Loup"])]
    return analyse(folder / "transform", sources, lists), source if sources else None


def test_a_train_split_without_a_word_is_an_error_of_the_data(wordless):
    output, source = wordless
    with pytest.raises(DataError, match="must hold a word, but the train split's texts have none"):
        if source is None:
            vocabulary_size(output, f.QUERY_VOCABULARY)
        else:
            read_pretrained(output, f.QUERY_VOCABULARY, source)


def test_a_vocabulary_of_one_word_is_one(wordless):
    output, _ = wordless
    assert words_of(output, f.DOCUMENT_VOCABULARY) == ["loup"]
    assert vocabulary_size(output, f.DOCUMENT_VOCABULARY) == 1
