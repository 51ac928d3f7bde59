"""`clir evaluate`: the metrics of any exported model on any collection with fixed lists."""

from pathlib import Path

import click

from cli.arguments import feedback_option
from cli.imports import heavy_imports
from cli.model_folder import find_model
from cli.summary import metrics_table
from cli.terminal import show, show_json
from components.wikiclir_example_gen.settings import DataSettings
from pipeline.input_files import check_input_files
from pipeline.output_folder import write_fault
from schemas.errors import ConfigError
from schemas.features import SPLITS


@click.command()
@click.argument("model", type=click.Path())
@click.option("--queries", required=True, metavar="FILE", help="Queries: id, title, text.")
@click.option("--documents", required=True, metavar="FILE", help="Documents: id, title, text.")
@click.option("--candidates", required=True, metavar="FILE", help="Lists: query id, document id, grade, split.")
@click.option("--split", default="test", show_default=True, type=click.Choice(SPLITS), help="Whose lists count.")
@click.option(
    "--top-grade", default=2, show_default=True, type=click.IntRange(min=1, max=100), help="The grade of MR documents."
)
@feedback_option
@click.option("--output", metavar="FOLDER", help="Write metrics.json, per_query.tsv, run.trec and qrels.trec there.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def evaluate(
    model: str,
    queries: str,
    documents: str,
    candidates: str,
    split: str,
    top_grade: int,
    feedback: float,
    output: str | None,
    as_json: bool,
) -> None:
    """Evaluate an exported MODEL on any collection with fixed lists.

    MODEL is a run's output folder, its serving folder, or one version in it.

    Example: clir evaluate runs/en_es --queries en.queries --documents es.documents --candidates en2es.candidates
    """
    path = find_model(model)
    paths = {"queries": queries, "documents": documents, "candidates": candidates}
    faults = [f"--{role}: {fault}" for role, fault in check_input_files(paths)]
    if output and (fault := write_fault(Path(output))):
        faults.append(f"--output: {fault}")
    if faults:
        raise ConfigError(faults)
    from cli.terminal import StageView
    from pipeline.quiet import quieten

    quieten(verbose=False)
    with StageView() as view:
        view.start(0, 0, "evaluating")
        with heavy_imports():
            from cli.evaluation import evaluate_model

        max_bad_share = DataSettings.model_fields["max_bad_share"].default
        result, data_report = evaluate_model(path, paths, split, top_grade, feedback, max_bad_share)
        for line in data_report.describe():
            view.say(line)
    if output:
        Path(output).mkdir(parents=True, exist_ok=True)
        for name, content in result.files().items():
            (Path(output) / name).write_text(content, encoding="utf-8")
    if as_json:
        show_json({**result.report.model_dump(), "data": data_report.as_dict()})
    else:
        show(metrics_table(result.report))
