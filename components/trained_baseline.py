"""The stage TrainedBaseline: ranks the test lists by a model that is not the run's own."""

from tfx.types.standard_artifacts import Examples, Model

from components.artifact_files import serving_model, split_files, write_text
from components.stage import Input, Output, stage
from models.choices import SCORES
from models.evaluation.score_lists import score_lists
from models.lists.ranking import ranking_run
from models.lists.ranking_lists import read_lists
from schemas.artifacts import RankingRun
from schemas.evaluation import RUN_FILE


@stage
def TrainedBaseline(examples: Input[Examples], model: Input[Model], run: Output[RankingRun], tag: str) -> None:
    """Ranks the test lists by a model that is not the run's own.

    Args:
      examples: listwise Examples with a test split, as texts.
      model: an exported model.
      run: a TREC run file over the test lists.
      tag: the baseline's name in the evaluation.
    """
    lists = read_lists(split_files(examples, "test"))
    scores = score_lists(serving_model(model), lists)[SCORES]
    write_text(run, RUN_FILE, "".join(ranking_run(lists, scores, tag)))
