"""The stage Evaluator: computes the metrics of the test lists."""

import os

from tfx.dsl.io import fileio
from tfx.types.standard_artifacts import Examples, Model, ModelEvaluation

from components.artifact_files import read_text, serving_model, split_files, write_text
from components.stage import Input, Output, stage
from models.choices import SCORES
from models.encoders.text_vectors import TextVectors
from models.evaluation.evaluate_lists import evaluate, read_baselines
from models.evaluation.metrics import METRICS
from models.evaluation.score_lists import score_lists
from models.exported.model import LoadedModel
from models.lists.ranking_lists import TEXT_SPEC, language_spec, read_lists
from schemas import artifacts
from schemas.artifacts import RankingRun
from schemas.domains import domains_to_test, domains_to_train
from schemas.evaluation import PARAMETERS_FILE, RUN_ENDING
from schemas.json_files import parse_json


@stage
def Evaluator(
    examples: Input[Examples],
    model: Input[Model],
    evaluation: Output[ModelEvaluation],
    top_grade: int,
    metrics: list[str] | None = None,
    used_negatives: int | None = None,
    held_out: tuple[str, ...] = (),
    text_languages: tuple[str, str] | None = None,
    bm25_run: Input[RankingRun] | None = None,
    paper_run: Input[RankingRun] | None = None,
    rival_runs: Input[RankingRun] | None = None,
    text_vectors: Input[artifacts.TextVectors] | None = None,
) -> None:
    """Computes the metrics of a model and of the baselines on the test split.

    Each baseline has an input of its own, because an input in Kubeflow Pipelines takes one channel.

    Args:
      examples: listwise Examples with a test split, as texts, and a train split, which shows which queries and
        documents were seen in training.
      model: the exported model, whose `score` signature, and second pass if it has one, score the lists.
      evaluation: metrics.json, per_query.tsv, run.trec and qrels.trec.
      top_grade: the MR grade.
      metrics: the keys of the reported metrics; None for the standard ones.
      used_negatives: the number of NR documents of a list that count; None for all.
      held_out: the domains that no stage has learned from; if there are any, only their lists are evaluated.
      text_languages: codes of the languages of queries and documents, where a side has several.
      bm25_run, paper_run, rival_runs: runs over the same lists; the tag in a run file is the baseline's name.
        `rival_runs` holds several runs, and their parameters.
      text_vectors: the vectors of a pre-trained encoder that is not a part of the model.

    Raises:
      DataError: see `read_baselines` and `evaluate`.
    """
    spec = TEXT_SPEC | (language_spec(text_languages) if text_languages else {})
    lists = read_lists(split_files(examples, "test"), spec, used_negatives, domains_to_test(held_out))
    trained = read_lists(split_files(examples, "train"), used_negatives=0, domains=domains_to_train(held_out))
    runs = [run for run in (bm25_run, paper_run, rival_runs) if run]
    paths = [path for run in runs for path in fileio.glob(os.path.join(run.uri, f"*{RUN_ENDING}"))]
    parameters = parse_json(read_text(rival_runs, PARAMETERS_FILE)) if rival_runs else {}
    baselines = read_baselines(paths)
    encoder = TextVectors(text_vectors.uri) if text_vectors else None
    path = serving_model(model)
    scores = score_lists(path, lists, encoder=encoder)
    result = evaluate(
        lists,
        scores.pop(SCORES),
        baselines,
        top_grade,
        metrics=metrics or [*METRICS],
        trained=trained,
        channels=scores,
        feedback=LoadedModel(path).feedback,
        parameters={name: chosen for name, chosen in parameters.items() if chosen},
    )
    for name, content in result.files().items():
        write_text(evaluation, name, content)
