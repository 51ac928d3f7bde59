"""The executor of SearchEvaluator: artifacts in and out, the work is in `evaluate_search`."""

import os
from typing import Any, Final

from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.dsl.io import fileio
from tfx.types import artifact_utils
from tfx.utils import path_utils

from components.search_evaluator.evaluate_search import evaluate_search
from models.exported.model import LoadedModel
from models.lists.ranking_lists import IDS_SPEC, TEXT_SPEC, read_lists
from models.retrieval.corpus_index import CorpusIndex
from schemas.collection import raw_documents
from schemas.evaluation import METRICS_FILE, EvaluationReport
from schemas.features import QUERY_TEXT
from schemas.search_report import SEARCH_FILE, SEARCH_PER_QUERY_FILE, SEARCH_RUN_FILE

EXAMPLES_KEY: Final = "examples"
MODEL_KEY: Final = "model"
INDEX_KEY: Final = "index"
COLLECTION_KEY: Final = "collection"
EVALUATION_KEY: Final = "evaluation"
SEARCH_EVALUATION_KEY: Final = "search_evaluation"
TOP_GRADE_KEY: Final = "top_grade"
MAX_TOKENS_KEY: Final = "max_tokens"


class Executor(base_executor.BaseExecutor):
    """Evaluates the search of the test queries in the whole collection."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the evaluation.

        Raises:
          DataError: model or index cannot be used.
        """
        uris = {key: artifact_utils.get_single_uri(input_dict[key]) for key in input_dict if key != EXAMPLES_KEY}
        test_files = fileio.glob(os.path.join(artifact_utils.get_split_uri(input_dict[EXAMPLES_KEY], "test"), "*"))
        model = LoadedModel(path_utils.serving_model_path(uris[MODEL_KEY]), "encode_query")
        with fileio.open(os.path.join(uris[EVALUATION_KEY], METRICS_FILE)) as file:
            sampled = EvaluationReport.from_json(file.read())
        folder = artifact_utils.get_single_uri(output_dict[SEARCH_EVALUATION_KEY])
        with fileio.open(os.path.join(folder, SEARCH_RUN_FILE), "w") as run:
            result = evaluate_search(
                # No document's text, and of the documents that are not relevant none that was drawn.
                read_lists(test_files, {**IDS_SPEC, QUERY_TEXT: TEXT_SPEC[QUERY_TEXT]}, used_negatives=0),
                CorpusIndex(uris[INDEX_KEY]),
                model,
                lambda: raw_documents(uris[COLLECTION_KEY], fileio.open),
                exec_properties[MAX_TOKENS_KEY],
                exec_properties[TOP_GRADE_KEY],
                sampled,
                run.write,
            )
        for name, content in (
            (SEARCH_FILE, result.report.to_json()),
            (SEARCH_PER_QUERY_FILE, result.per_query.to_tsv()),
        ):
            with fileio.open(os.path.join(folder, name), "w") as file:
                file.write(content)
