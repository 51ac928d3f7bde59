"""The paths of the HTTP service."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeVar

from fastapi import Body, FastAPI, Query, Request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.responses import Response

from schemas.json_record import JsonRecord
from smooth_clir.retrieval.answers import Collection, ExplainAnswer, RankAnswer, SearchAnswer
from smooth_clir.retrieval.engine import Engine
from smooth_clir.serving.engine_holder import EngineHolder
from smooth_clir.serving.middleware import NOTES
from smooth_clir.serving.settings import ServiceSettings
from smooth_clir.serving.telemetry import ServiceMetrics
from smooth_clir.serving.work_queue import WorkQueue

Answer = TypeVar("Answer", bound=BaseModel)

_WORDED: Final = r"[^\s\x85\uFEFF]"
"""Matches a text that is not blank. `\\s` holds U+0085 for Pydantic and U+FEFF for JSON Schema."""
_REFUSALS: Final = {
    400: "The request is not HTTP, or its body is not JSON.",
    404: "The requested path or place does not exist.",
    405: "The path does not have this method.",
    408: "The request did not arrive in time.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The request is for another host.",
    422: "A value is missing, unknown or out of range.",
    503: "The service is busy, or cannot reach its model. The header Retry-After says when to ask again.",
    504: "The answer was not ready in time.",
}


class Problem(JsonRecord):
    """The reason why there is no result."""

    error: str
    """The reason as a sentence, with what to do."""


class Ready(JsonRecord):
    """Whether the service can answer."""

    ready: bool


class Alive(JsonRecord):
    """Whether the process runs."""

    alive: bool


class Inputs(BaseModel):
    """The base of inputs; an unknown name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class StrictInputs(Inputs):
    """The base of JSON inputs, where a number must be a number."""

    model_config = ConfigDict(strict=True)


def add_routes(
    app: FastAPI, holder: EngineHolder, queue: WorkQueue, metrics: ServiceMetrics, settings: ServiceSettings
) -> None:
    """Adds all paths but the page's."""
    max_query, max_text = settings.most_query_characters, settings.most_text_characters
    QueryText = Annotated[str, Field(min_length=1, max_length=max_query, pattern=_WORDED, description="The query.")]
    Text = Annotated[str, Field(min_length=1, max_length=max_text, pattern=_WORDED, description="A document's text.")]
    Place = Annotated[
        str, Field(min_length=1, max_length=200, description="A document's place in the index, from a search.")
    ]
    Limit = Annotated[
        int, Field(ge=1, le=settings.most_k, description="Largest number of results."), BeforeValidator(_integer)
    ]
    WithSnippets = Annotated[bool, Field(description="Whether to add the piece of each document with matching words.")]
    Where = Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=max_query,
            description="A filter by fields of the documents, such as `lang=es|fr,year>=2020`; `/v1/collection` has "
            "the fields.",
        ),
    ]
    WithTexts = Annotated[bool, Field(description="Whether to add the whole text of each document.")]

    class SearchParameters(Inputs):
        q: QueryText
        k: Limit = min(10, settings.most_k)
        snippets: WithSnippets = False
        texts: WithTexts = False
        where: Where = None

    class SearchRequest(StrictInputs):
        query: QueryText
        k: Limit = min(10, settings.most_k)
        snippets: WithSnippets = False
        texts: WithTexts = False
        where: Where = None

    class RankRequest(StrictInputs):
        query: QueryText
        documents: Annotated[list[Text], Field(min_length=1, max_length=settings.most_documents)]

    class ExplainParameters(Inputs):
        q: QueryText
        place: Place
        where: Where = None

    class ExplainRequest(StrictInputs):
        query: QueryText
        text: Text

    async def answer(request: Request, query: str, work: Callable[[Engine], Answer], **notes: int) -> Response:
        """Makes an answer, and its JSON, in a thread."""
        request.scope["state"][NOTES].update(query_characters=len(query), **notes)

        def worked() -> str:
            with holder.engine() as engine:
                return work(engine).model_dump_json()

        return Response(await queue.run(worked, lambda: _hung_up(request)), media_type="application/json")

    @app.get("/v1/search", response_model=SearchAnswer, responses=_responses(), tags=["search"])
    async def search(request: Request, inputs: Annotated[SearchParameters, Query()]) -> Response:
        """Finds the best documents of the whole collection for a query."""
        return await answer(
            request,
            inputs.q,
            lambda engine: engine.search(inputs.q, inputs.k, inputs.snippets, inputs.texts, inputs.where),
            k=inputs.k,
        )

    @app.post("/v1/search", response_model=SearchAnswer, responses=_responses(), tags=["search"])
    async def search_by_post(request: Request, inputs: Annotated[SearchRequest, Body()]) -> Response:
        """Does the same as GET, without the query in the address."""
        return await answer(
            request,
            inputs.query,
            lambda engine: engine.search(inputs.query, inputs.k, inputs.snippets, inputs.texts, inputs.where),
            k=inputs.k,
        )

    @app.post("/v1/rank", response_model=RankAnswer, responses=_responses(), tags=["search"])
    async def rank(request: Request, inputs: Annotated[RankRequest, Body()]) -> Response:
        """Ranks your own texts for a query; they need not be in the collection."""
        return await answer(
            request,
            inputs.query,
            lambda engine: engine.rank(inputs.query, inputs.documents),
            documents=len(inputs.documents),
        )

    @app.get("/v1/explain", response_model=ExplainAnswer, responses=_responses(), tags=["search"])
    async def explain(request: Request, inputs: Annotated[ExplainParameters, Query()]) -> Response:
        """Explains the score of a search result: the share of every word."""
        return await answer(
            request, inputs.q, lambda engine: engine.explain(inputs.q, inputs.place, None, inputs.where)
        )

    @app.post("/v1/explain", response_model=ExplainAnswer, responses=_responses(), tags=["search"])
    async def explain_text(request: Request, inputs: Annotated[ExplainRequest, Body()]) -> Response:
        """Explains the score of your own text."""
        return await answer(request, inputs.query, lambda engine: engine.explain(inputs.query, None, inputs.text))

    @app.get("/v1/collection", response_model=Collection, responses=_responses(), tags=["search"])
    async def collection() -> Response:
        """Describes the collection, its versions, and the limits of a request."""
        with holder.engine() as engine:
            return _json(engine.collection(settings.most_query_characters, settings.most_k))

    @app.get("/healthz", response_model=Alive, responses=_responses(), tags=["operation"])
    async def healthz() -> Response:
        """Answers while the process runs."""
        return _json(Alive(alive=True))

    @app.get("/readyz", response_model=Ready, responses=_responses(), tags=["operation"])
    async def readyz() -> Response:
        """Answers 200 if searches can be answered, else 503."""
        with holder.engine():
            return _json(Ready(ready=True))

    @app.get("/metrics", response_class=_Metrics, responses=_responses(), tags=["operation"])
    async def prometheus() -> Response:
        """Returns counts and times for Prometheus."""
        return _Metrics(metrics.text())


def _integer(value: Any) -> Any:
    """Reads 10.0 as 10, as JSON does."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _Metrics(Response):
    media_type = ServiceMetrics.content_type


def _responses() -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problem, "description": meaning} for status, meaning in _REFUSALS.items()}


def _json(record: BaseModel) -> Response:
    return Response(record.model_dump_json(), media_type="application/json")


async def _hung_up(request: Request) -> Mapping[str, Any]:
    """Ends when the client has hung up."""
    while (message := await request.receive())["type"] != "http.disconnect":
        pass
    return message
