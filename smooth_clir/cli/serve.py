"""`clir serve`: serves an index and its model over HTTP, with a page."""

import os
import sys
from typing import TYPE_CHECKING, Any

import click
import pydantic

from schemas.served_versions import MODEL_NAME
from smooth_clir.cli.arguments import index_option, model_argument
from smooth_clir.cli.imports import heavy_imports
from smooth_clir.cli.model_folder import IndexLocation, find_index
from smooth_clir.cli.terminal import say, show
from smooth_clir.serving.settings import ServiceSettings

if TYPE_CHECKING:
    from smooth_clir.retrieval.folder_engines import FolderEngines


def _limit(name: str, metavar: str = "N") -> Any:
    """Makes an option for a limit of the service; its help is the field's docstring."""
    field = ServiceSettings.model_fields[name]
    return click.option(
        f"--{name.replace('_', '-')}", type=type(field.default), default=field.default, show_default=True,
        metavar=metavar, help=field.description,
    )  # fmt: skip


@click.command()
@model_argument
@index_option
@_limit("host", "ADDRESS")
@_limit("port", "PORT")
@click.option("--allow-host", "allowed_hosts", metavar="NAME", multiple=True, help="Accepted Host header; repeatable.")
@click.option(
    "--tf-serving", metavar="ADDRESS", help="Ask a TF Serving over gRPC, such as localhost:8500, for the scores."
)
@click.option("--model-name", default=MODEL_NAME, show_default=True, help="The model's name in the TF Serving.")
@_limit("seconds", "SECONDS")
@_limit("threads")
@_limit("waiting")
@_limit("connections")
@_limit("most_bytes")
@_limit("most_query_characters")
@_limit("most_k")
@_limit("most_documents")
@_limit("most_text_characters")
@_limit("drain_seconds", "SECONDS")
@_limit("poll_seconds", "SECONDS")
def serve(model: str, index: str | None, tf_serving: str | None, model_name: str, **limits: Any) -> None:
    """Serve the index of a MODEL: search, ranking and explanations over HTTP, and a page.

    MODEL is a run's output folder, its serving folder, or a version in it. A newer model or index replaces the current
    pair without a pause. There is no password: anyone who reaches the address can search.

    Example: clir serve runs/sample --port 8080
    """
    try:
        settings = ServiceSettings(**limits)
    except pydantic.ValidationError as error:
        (fault, *_) = error.errors()
        option = f"--{str(fault['loc'][0]).replace('_', '-')}"
        raise click.UsageError(f"{option}: {fault['msg']}; got {fault['input']}.") from None
    location = find_index(model, index)
    with heavy_imports():
        from smooth_clir.serving.service import Service

        source = _source(location, tf_serving, model_name, settings.seconds)
    say("loading")
    service = Service(source, settings, sys.stderr)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    if not service.run(lambda port: show(f"http://{host}:{port}/")):
        say("some requests were cut off, because they took longer than --drain-seconds")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)  # the requests' threads would keep the process alive


def _source(location: IndexLocation, tf_serving: str | None, model_name: str, seconds: float) -> "FolderEngines":
    """Returns the source of engines, with the languages in the configuration of the model's run, if it exists."""
    from smooth_clir.retrieval.engine import Languages
    from smooth_clir.retrieval.folder_engines import FolderEngines

    connect = None
    if tf_serving:
        from smooth_clir.serving.tf_serving_client import TfServingModel

        def connect(version: str) -> TfServingModel:
            return TfServingModel(tf_serving, model_name, version, seconds)

    data = location.settings("data")
    query, document = data.get("query_language"), data.get("document_language")
    languages = Languages(query, document) if isinstance(query, str) and isinstance(document, str) else None
    # A call of Milvus ends before its request, so that the answer says why.
    return FolderEngines(location.models, location.searched, connect, languages, max(1, int(seconds / 2)))
