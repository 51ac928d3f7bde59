"""The stage LexicalBaseline: ranks the test lists by BM25 without translation."""

from typing import Final

from tfx.types.standard_artifacts import Examples

from components.artifact_files import split_files, write_text
from components.stage import Apply, Input, Output, stage
from models.lists.ranking import ranking_run
from models.lists.ranking_lists import read_lists
from schemas.artifacts import Collection, RankingRun
from schemas.collection import DocumentTexts
from schemas.evaluation import RUN_FILE
from schemas.word_rules import WordRules
from smooth_clir.retrieval.bm25 import score_by_bm25

TAG: Final = "bm25"


@stage
def LexicalBaseline(
    examples: Input[Examples],
    collection: Input[Collection],
    run: Output[RankingRun],
    apply: Apply,
    rules: WordRules,
) -> None:
    """Ranks the test lists by BM25 without translation.

    Args:
      examples: listwise Examples with a test split.
      collection: the documents whose statistics BM25 uses.
      run: a TREC run file over the test lists.
      apply: shares the reading among workers.
      rules: what words are, and how many of a text count.
    """
    lists = read_lists(split_files(examples, "test"))
    scores = score_by_bm25(lists, DocumentTexts(collection.uri, apply), rules)
    write_text(run, RUN_FILE, "".join(ranking_run(lists, scores, TAG)))
