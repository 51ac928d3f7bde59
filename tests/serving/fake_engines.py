"""Engines without a model, whose answers take as long as a test wants."""

import threading
import time
from typing import Any

from models.exported.explanation import Explanation
from schemas.index_manifest import Drift
from smooth_clir.retrieval.answers import Collection, ExplainAnswer, RankAnswer, RankedText, SearchAnswer
from smooth_clir.retrieval.engine import Engine
from smooth_clir.retrieval.folder_engines import FolderEngines


class FakeEngine(Engine):
    """Finds no documents, after a time, or when it is let go.

    Args:
      version: the version of the model and of the index.
      seconds: the time of an answer.
      fault: the error of warming it.
    """

    def __init__(self, version: str = "1", seconds: float = 0.0, fault: Exception | None = None) -> None:
        self.model_version, self.index_version, self.documents = version, version, 3
        self.drift = Drift(documents=3)
        self.seconds, self.fault, self.error = seconds, fault, Exception()
        self.is_closed, self.worked_when_closed = False, False
        self.let_go, self.has_begun = threading.Event(), threading.Event()
        self.let_go.set()
        self.answers = 0

    def search(
        self, query: str, limit: int, with_snippets: bool, with_texts: bool, where: str | None = None
    ) -> SearchAnswer:
        self._work(query)
        return SearchAnswer(**self._judged, query=query, results=(), documents=3)

    def rank(self, query: str, documents: Any) -> RankAnswer:
        self._work(query)
        ranked = tuple(
            RankedText(rank=position + 1, position=position, score=0.0, relevant_share=None)
            for position in range(len(documents))
        )
        return RankAnswer(**self._judged, documents=ranked)

    def explain(self, query: str, place: str | None, text: str | None, where: str | None = None) -> ExplainAnswer:
        self._work(query)
        explanation = Explanation(parts=(), words=(), lexicon=(), without_shares=(), theta=(), notes=())
        return ExplainAnswer(
            **self._versions(), query=query, doc_id=None, title=None, text=text or "", score=0.0, relevant_share=None,
            explanation=explanation, milliseconds=0.0,
        )  # fmt: skip

    def collection(self, most_query_characters: int, most_k: int) -> Collection:
        return Collection(
            **self._versions(), documents=3, has_passages=False, query_language="en", document_language="fr",
            can_explain=True, most_k=most_k, why_no_shares=None, example_queries=(),
            most_query_characters=most_query_characters, drift=self.drift, feedback=0.0, why_first_pass=None, fields={},
        )  # fmt: skip

    def warm(self) -> None:
        if self.fault:
            raise self.fault

    def close(self) -> None:
        self.is_closed = True

    @property
    def _judged(self) -> dict[str, Any]:
        return {**self._versions(), "milliseconds": 0.0, "no_good_answer": None, "why_no_good_answer": None}

    def _work(self, query: str) -> None:
        self.has_begun.set()
        self.worked_when_closed |= self.is_closed
        if query == "boom":
            raise RuntimeError("the engine fails at boom")
        time.sleep(self.seconds)
        self.let_go.wait(20)
        self.worked_when_closed |= self.is_closed
        self.answers += 1


class FakeSource(FolderEngines):
    """A source of such engines; the newest is the last that was added."""

    def __init__(self, *engines: FakeEngine) -> None:
        self.engines = {engine.model_version: engine for engine in engines}
        self.loads = list[str]()

    def add(self, engine: FakeEngine) -> None:
        self.engines[engine.model_version] = engine

    def newest(self) -> str | None:
        return [*self.engines][-1] if self.engines else None

    def load(self, name: str) -> FakeEngine:
        self.loads.append(name)
        return self.engines[name]


class Watch:
    """The report of an `EngineHolder`."""

    def __init__(self) -> None:
        self.reported = list[tuple[str, ...]]()

    def swapped(self, engine: Engine, seconds: float) -> None:
        self.reported.append(("swapped", engine.index_version))

    def drained(self, engine: Engine, seconds: float) -> None:
        self.reported.append(("drained", engine.index_version))

    def failed(self, name: str, error: Exception) -> None:
        self.reported.append(("failed", name.partition("@")[0], str(error)))
