"""The paths of the HTTP service."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeVar

from fastapi import Body, FastAPI, Query, Request
from pydantic import BaseModel, BeforeValidator, Field
from starlette.responses import Response

from serving.engine import Engine
from serving.http_records import (
    WORDED,
    Alive,
    Collection,
    ExplainAnswer,
    Inputs,
    Problem,
    RankAnswer,
    Ready,
    SearchAnswer,
    StrictInputs,
)
from serving.middleware import NOTES
from serving.newest_engine import EngineHolder
from serving.settings import ServiceSettings
from serving.telemetry import ServiceMetrics
from serving.work_queue import WorkQueue

Answer = TypeVar("Answer", bound=BaseModel)

_REFUSALS: Final = {
    400: "The request is no HTTP, or its body no JSON.",
    404: "What is asked for is not there.",
    405: "The path has no such method.",
    408: "The request did not come in time.",
    413: "The body is too large.",
    415: "The body is no JSON.",
    421: "The request is for another host.",
    422: "The request says something that it must not.",
    503: "The service is busy, or cannot reach its model. The header Retry-After says when to ask again.",
    504: "The answer did not come in time.",
}


def add_routes(
    app: FastAPI, holder: EngineHolder, queue: WorkQueue, metrics: ServiceMetrics, settings: ServiceSettings
) -> None:
    """Adds all paths but the page's."""
    most_query, most_text = settings.most_query_characters, settings.most_text_characters
    Asked = Annotated[
        str, Field(min_length=1, max_length=most_query, pattern=WORDED, description="What is searched for.")
    ]
    Text = Annotated[str, Field(min_length=1, max_length=most_text, pattern=WORDED, description="Of a document.")]
    Place = Annotated[
        str, Field(min_length=1, max_length=200, description="Of a document in the index, as a search gave it.")
    ]
    Most = Annotated[int, Field(ge=1, le=settings.most_k, description="Results, at most."), BeforeValidator(_whole)]
    WithSnippets = Annotated[bool, Field(description="Give of each document the piece with the words that match.")]
    WithTexts = Annotated[bool, Field(description="Give the whole text of each document.")]

    class SearchParameters(Inputs):
        q: Asked
        k: Most = min(10, settings.most_k)
        snippets: WithSnippets = False
        texts: WithTexts = False

    class SearchRequest(StrictInputs):
        query: Asked
        k: Most = min(10, settings.most_k)
        snippets: WithSnippets = False
        texts: WithTexts = False

    class RankRequest(StrictInputs):
        query: Asked
        documents: Annotated[list[Text], Field(min_length=1, max_length=settings.most_documents)]

    class ExplainParameters(Inputs):
        q: Asked
        place: Place

    class ExplainRequest(StrictInputs):
        query: Asked
        text: Text

    async def answer(request: Request, work: Callable[[Engine], Answer], **notes: Any) -> Response:
        """An answer that is worked out, and turned into JSON, in a thread."""
        request.scope["state"][NOTES].update(notes)

        def worked() -> str:
            with holder.engine() as engine:
                return work(engine).model_dump_json()

        return Response(await queue.run(worked, lambda: _hung_up(request)), media_type="application/json")

    @app.get("/v1/search", response_model=SearchAnswer, responses=_responses(), tags=["search"])
    async def search(request: Request, asked: Annotated[SearchParameters, Query()]) -> Response:
        """The best documents of the whole collection for a query."""
        return await answer(
            request,
            lambda engine: engine.search(asked.q, asked.k, asked.snippets, asked.texts),
            query_characters=len(asked.q),
            k=asked.k,
        )

    @app.post("/v1/search", response_model=SearchAnswer, responses=_responses(), tags=["search"])
    async def search_by_post(request: Request, asked: Annotated[SearchRequest, Body()]) -> Response:
        """The same, for a query that shall stand in no address."""
        return await answer(
            request,
            lambda engine: engine.search(asked.query, asked.k, asked.snippets, asked.texts),
            query_characters=len(asked.query),
            k=asked.k,
        )

    @app.post("/v1/rank", response_model=RankAnswer, responses=_responses(), tags=["search"])
    async def rank(request: Request, asked: Annotated[RankRequest, Body()]) -> Response:
        """The order of texts of your own for a query; they need not be in the collection."""
        return await answer(
            request,
            lambda engine: engine.rank(asked.query, asked.documents),
            query_characters=len(asked.query),
            documents=len(asked.documents),
        )

    @app.get("/v1/explain", response_model=ExplainAnswer, responses=_responses(), tags=["search"])
    async def explain(request: Request, asked: Annotated[ExplainParameters, Query()]) -> Response:
        """Why a document that was found has its score: the share of every word."""
        return await answer(
            request, lambda engine: engine.explain(asked.q, asked.place, None), query_characters=len(asked.q)
        )

    @app.post("/v1/explain", response_model=ExplainAnswer, responses=_responses(), tags=["search"])
    async def explain_text(request: Request, asked: Annotated[ExplainRequest, Body()]) -> Response:
        """The same of a text of your own."""
        return await answer(
            request, lambda engine: engine.explain(asked.query, None, asked.text), query_characters=len(asked.query)
        )

    @app.get("/v1/collection", response_model=Collection, responses=_responses(), tags=["search"])
    async def collection() -> Response:
        """What is searched, by which versions, and what a request may ask for."""
        with holder.engine() as engine:
            return _json(engine.collection(settings.most_query_characters, settings.most_k))

    @app.get("/healthz", response_model=Alive, responses=_responses(), tags=["operation"])
    async def healthz() -> Response:
        """Whether the process runs."""
        return _json(Alive(alive=True))

    @app.get("/readyz", response_model=Ready, responses=_responses(), tags=["operation"])
    async def readyz() -> Response:
        """Whether it can answer: 503 where it cannot."""
        with holder.engine():
            return _json(Ready(ready=True))

    @app.get("/metrics", response_class=_Metrics, responses=_responses(), tags=["operation"])
    async def prometheus() -> Response:
        """Counts and times, for Prometheus."""
        return _Metrics(metrics.text())


def _whole(value: Any) -> Any:
    """10.0 is the number 10 in JSON, too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _Metrics(Response):
    media_type = ServiceMetrics.content_type


def _responses() -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problem, "description": told} for status, told in _REFUSALS.items()}


def _json(record: BaseModel) -> Response:
    return Response(record.model_dump_json(), media_type="application/json")


async def _hung_up(request: Request) -> Mapping[str, Any]:
    """Ends when the client has gone."""
    while (message := await request.receive())["type"] != "http.disconnect":
        pass
    return message
