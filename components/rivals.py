"""The stage Rivals: ranks the test lists by baselines whose parameters the eval split chooses."""

from tfx.types.standard_artifacts import Examples

from components.artifact_files import split_files, write_text
from components.stage import Input, Output, stage
from models.lexicon.lexicon import read_lexicon
from models.lists.ranking_lists import read_lists
from models.rivals.rank_lists import rank_lists, translate_queries
from models.rivals.term_lists import TermLists
from models.translators.settings import TranslatorSettings
from schemas.artifacts import Collection, Lexicon, RankingRun
from schemas.collection import DocumentTexts
from schemas.domains import domains_to_test, domains_to_train
from schemas.splits import SPLITS
from schemas.word_rules import WordRules


@stage
def Rivals(
    examples: Input[Examples],
    runs: Output[RankingRun],
    methods: list[str],
    languages: tuple[str, str],
    rules: WordRules,
    top_grade: int,
    vocabulary_size: int,
    seed: int,
    used_negatives: int | None = None,
    held_out: tuple[str, ...] = (),
    lexicon: Input[Lexicon] | None = None,
    collection: Input[Collection] | None = None,
    query_translator: TranslatorSettings | None = None,
) -> None:
    """Ranks the test lists by rankers that train in seconds, most of them rivals of Bai et al. 2009.

    Args:
      examples: listwise Examples, as texts.
      runs: a TREC run file for each method over the test lists, and the parameters that the eval split chose.
      methods: names from `models.choices.RIVALS`.
      languages: the query and the document language.
      rules: what words are, and how many of a text count.
      top_grade: the MR grade.
      vocabulary_size: the largest number of terms of each side that the perceptron covers.
      seed: the seed of the order of the train lists.
      used_negatives: the number of NR documents of a list that are read; None for all.
      held_out: the held-out domains; if there are any, only their test lists are ranked, and nothing else is read of
        their lists.
      lexicon: the translations; needed across two languages.
      collection: the documents; needed by `models.choices.COLLECTION_RIVALS`.
      query_translator: needed by `models.choices.MACHINE_TRANSLATING`.

    Raises:
      DataError: a method cannot be trained on these lists.
    """
    trained, tested = domains_to_train(held_out), domains_to_test(held_out)
    splits = {
        name: read_lists(
            split_files(examples, name),
            used_negatives=used_negatives,
            domains=tested if name == "test" else trained,
        )
        for name in SPLITS
    }
    learned = read_lexicon(lexicon.uri) if lexicon else None
    documents = DocumentTexts(collection.uri) if collection else None
    translated = None
    if query_translator:
        translated = translate_queries(splits.values(), query_translator, languages)
    texts = TermLists.read(splits, languages, rules, learned, top_grade, vocabulary_size, seed, documents, translated)
    for name, content in rank_lists(methods, texts).items():
        write_text(runs, name, content)
