"""The stage SearchEvaluator: computes the metrics of searching the whole collection."""

import logging
import os

from tfx.types.standard_artifacts import Examples, Model, ModelEvaluation

from components.artifact_files import read_text, serving_model, split_files, write_text
from components.stage import Input, Output, stage
from models.encoders.text_vectors import TextVectors
from models.exported.model import LoadedModel
from models.lists.ranking_lists import IDS_SPEC, TEXT_SPEC, read_lists
from schemas import artifacts, file_system
from schemas.collection import raw_documents
from schemas.domains import domains_to_test
from schemas.evaluation import METRICS_FILE, EvaluationReport
from schemas.features import QUERY_TEXT
from schemas.search_report import SEARCH_FILE, SEARCH_PER_QUERY_FILE, SEARCH_RUN_FILE
from schemas.word_rules import WordRules
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.evaluate_search import evaluate_search
from smooth_clir.retrieval.index_files import origin_of
from smooth_clir.retrieval.milvus import Milvus
from smooth_clir.retrieval.milvus_index import MilvusIndex
from smooth_clir.retrieval.milvus_settings import MilvusAddress, MilvusSettings

log = logging.getLogger("clir.index")


@stage
def SearchEvaluator(
    examples: Input[Examples],
    model: Input[Model],
    index: Input[artifacts.CorpusIndex],
    collection: Input[artifacts.Collection],
    evaluation: Input[ModelEvaluation],
    search_evaluation: Output[artifacts.SearchEvaluation],
    top_grade: int,
    rules: WordRules,
    leave_out_own: bool = False,
    held_out: tuple[str, ...] = (),
    text_vectors: Input[artifacts.TextVectors] | None = None,
    milvus: MilvusSettings | None = None,
) -> None:
    """Searches the whole collection for the test queries, and computes metrics of the results.

    Args:
      examples: listwise Examples with a test split: queries, and the judgments of their documents.
      model: the exported model; its score is an inner product.
      index: the index that the model made.
      collection: the indexed documents, for BM25.
      evaluation: the same model's metrics of the test lists, for the report.
      search_evaluation: search.json, search_per_query.tsv and search_run.trec.
      top_grade: the MR grade.
      rules: what words are, and how many of a text count.
      leave_out_own: whether a query's results leave out the document with the query's own id.
      held_out: the held-out domains; if there are any, only their queries are searched for.
      text_vectors: the vectors of the model's pre-trained encoder, so that no query is encoded again.
      milvus: the Milvus server; its index is evaluated if it is this run's.

    Raises:
      DataError: the model or the index cannot be used, or Milvus does not answer.
    """
    exact = CorpusIndex(index.uri)
    served = _served(index.uri, milvus)
    with file_system.open_file(os.path.join(search_evaluation.uri, SEARCH_RUN_FILE), "w") as run:
        result = evaluate_search(
            # Reads neither the documents' texts nor the drawn NR documents.
            read_lists(
                split_files(examples, "test"),
                {**IDS_SPEC, QUERY_TEXT: TEXT_SPEC[QUERY_TEXT]},
                used_negatives=0,
                domains=domains_to_test(held_out),
            ),
            served or exact,
            exact,
            LoadedModel(
                serving_model(model), "encode_query", encoder=TextVectors(text_vectors.uri) if text_vectors else None
            ),
            lambda: raw_documents(collection.uri),
            rules,
            top_grade,
            EvaluationReport.from_json(read_text(evaluation, METRICS_FILE)),
            run.write,
            leave_out_own,
            engine=str(milvus.address) if served and milvus else "",
        )
    write_text(search_evaluation, SEARCH_FILE, result.report.to_json())
    write_text(search_evaluation, SEARCH_PER_QUERY_FILE, result.per_query.to_tsv())


def _served(index: str, settings: MilvusSettings | None) -> MilvusIndex | None:
    """Returns the run's index in Milvus; None if Milvus lacks it: the model was not pushed, or documents changed."""
    if settings is None or settings.address is None:
        return None
    milvus = Milvus(MilvusAddress.parse(settings.address))
    collection = milvus.newest()
    if collection is None or milvus.version(collection).of_run != origin_of(index):
        log.warning("%s does not hold the index of this run; evaluating the index in files instead", settings.address)
        return None
    return MilvusIndex(milvus, collection)
