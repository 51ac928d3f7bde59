"""Thirty lists that a ranker learns in a few steps, and the stages of a configuration that train on them."""

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import schemas
from models.exported.model import LoadedModel
from models.lists.ranking_lists import RankingLists, read_lists
from schemas.training_history import HISTORY_FILE, TrainingHistory
from tests.components.collected import collect

DOMAINS: Final = ("arts", "places", "science")
HELD_OUT: Final = DOMAINS[2]
TOPICS: Final = {
    "painter canvas museum": "peintre toile musée",
    "river bridge valley": "rivière pont vallée",
    "planet orbit telescope": "planète orbite télescope",
    "violin concert melody": "violon concert mélodie",
    "harbour island sailor": "port île marin",
    "whale plankton reef": "baleine plancton récif",
    "theatre actor stage": "théâtre acteur scène",
    "desert dune camel": "désert dune chameau",
    "enzyme protein cell": "enzyme protéine cellule",
    "novel poet library": "roman poète bibliothèque",
}
"""The words of a topic's queries, and those of its documents; topic k belongs to domain k % 3."""
_FORMS: Final = ("the {} and a {}", "its {} near the {}", "{} or {} with a new word")


def _document(topic: int, second_topic: int) -> str:
    words = [*TOPICS.values()]
    return f"Un texte de {words[topic]}, l'un des {words[second_topic].split()[0]} d'hier."


DOCUMENTS: Final = {
    **{f"d{topic}": _document(topic, topic) for topic in range(10)},
    **{f"e{topic}": _document((topic + 1) % 10, topic) for topic in range(10)},
}
"""Document d of a topic is most relevant to its queries; document e, with one of its words, somewhat."""


def lists_of(count: int, held_out_grade: Callable[[int], int] = int) -> dict[str, Any]:
    """The lists of a split: query id to (text, {document id: (text, grade)}), the grades of held-out ones changed."""
    lists = {}
    for row in range(count):
        form, topic = divmod(row, 10)
        domain, words = DOMAINS[topic % 3], [*TOPICS][topic].split()
        grades = {f"d{topic}": 2, f"e{topic}": 1, f"d{(topic + 3) % 10}": 0, f"e{(topic + 5) % 10}": 0}
        if domain == HELD_OUT:
            grades = {doc_id: held_out_grade(grade) for doc_id, grade in grades.items()}
        text = _FORMS[form].format(words[form], words[(form + 1) % 3])
        lists[f"{domain}/{row}"] = (text, {doc_id: (DOCUMENTS[doc_id], grade) for doc_id, grade in grades.items()})
    return lists


class Stages:
    """Stages of a run as the pipeline wires them, each called in this process; those before them are not needed.

    Args:
      folder: for their outputs, with the artifact of examples in `Examples`.
      examples: listwise Examples.
      settings: the sections of a configuration.
      names: the stages to call.
    """

    def __init__(self, folder: Path, examples: Any, settings: Mapping[str, Any], names: Collection[str]) -> None:
        from tfx.dsl.components.base.base_beam_executor import BaseBeamExecutor
        from tfx.types import standard_artifacts

        from pipeline.config import RunConfig
        from pipeline.pipeline import create_pipeline
        from schemas.artifacts import Collection

        def artifact(kind: Any, path: Path) -> Any:
            made = kind()
            made.uri = str(path)
            path.mkdir(parents=True)
            return made

        self.folder, self.examples = folder, examples
        data = {"queries": "q", "documents": "d", "judgments": "j", "query_language": "en", "document_language": "fr"}
        added = {"data": data, "channels": {"encoder": None}}
        sections = {name: {**section, **settings.get(name, {})} for name, section in added.items()}
        self.config = RunConfig.model_validate({**settings, **sections, "output": str(folder / "out")})
        schema = artifact(standard_artifacts.Schema, folder / "Schema")
        Path(schema.uri, "schema.pbtxt").write_text(Path(schemas.__file__).with_name("schema.pbtxt").read_text())
        documents = "".join(f"{doc_id}\t\t{text}\n" for doc_id, text in DOCUMENTS.items())
        collection = artifact(Collection, folder / "Collection")
        collect(
            Path(collection.uri), {"documents": documents.encode(), "queries": b"q\t\tq\n", "judgments": b"q\td1\t2\n"}
        )
        made = {"examples": examples, "schema": schema, "collection": collection}
        paths = (str(folder / name) for name in ("artifacts", "serving", "index"))
        for node in create_pipeline(self.config, *paths).components:
            if node.id not in names:
                continue
            inputs = {key: [made[channel.output_key]] for key, channel in node.inputs.items()}
            outputs = {key: [artifact(channel.type, folder / node.id / key)] for key, channel in node.outputs.items()}
            made |= {key: output for key, (output,) in outputs.items()}
            executor = node.executor_spec.executor_class
            beam = {"beam_pipeline_args": []} if issubclass(executor, BaseBeamExecutor) else {}
            context = executor.Context(tmp_dir=str(folder / "tmp"), unique_id="1", **beam)
            executor(context).Do(inputs, outputs, node.exec_properties)

    @cached_property
    def model(self) -> LoadedModel:
        """The exported model."""
        return LoadedModel(str(self.folder / "Trainer" / "model" / "Format-Serving"))

    @cached_property
    def history(self) -> TrainingHistory:
        """The history of the training."""
        return TrainingHistory.from_json((self.folder / "Trainer" / "model_run" / HISTORY_FILE).read_text())

    def lists(self, split: str) -> RankingLists:
        """The lists of a split as texts."""
        return read_lists(map(str, Path(self.examples.uri, f"Split-{split}").iterdir()))

    def files(self, *parts: str) -> dict[str, bytes]:
        """The content of the files under a folder, by their paths."""
        folder = self.folder.joinpath(*parts)
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
