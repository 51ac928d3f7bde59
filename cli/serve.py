"""`clir serve`: serves an index and its model over HTTP, with a page."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pydantic

from cli.arguments import index_option, model_argument
from cli.imports import heavy_imports
from cli.model_folder import IndexPlace, index_place
from cli.terminal import say, show
from pipeline.config import read_run_settings
from schemas.served_versions import MODEL_NAME
from serving.settings import ServiceSettings

if TYPE_CHECKING:
    from serving.engine import Languages
    from serving.newest_engine import FolderEngines

_DEFAULTS = ServiceSettings()


def _limit(name: str, metavar: str, help_text: str) -> Any:
    """Makes an option for a limit."""
    default = getattr(_DEFAULTS, name)
    return click.option(
        f"--{name.replace('_', '-')}", type=type(default), default=default, show_default=True, metavar=metavar,
        help=help_text,
    )  # fmt: skip


@click.command()
@model_argument
@index_option
@_limit("host", "ADDRESS", "Address to listen at; 0.0.0.0 lets other machines in.")
@_limit("port", "PORT", "Port; 0 for any free one.")
@click.option("--allow-host", "allowed_hosts", metavar="NAME", multiple=True, help="Accepted Host header; repeatable.")
@click.option(
    "--tf-serving", metavar="ADDRESS", help="Ask a TF Serving over gRPC, such as localhost:8500, for the scores."
)
@click.option("--model-name", default=MODEL_NAME, show_default=True, help="The model's name in the TF Serving.")
@_limit("seconds", "SECONDS", "Request timeout in seconds.")
@_limit("threads", "N", "Requests at work at once.")
@_limit("waiting", "N", "Requests that may wait; the next one gets 503.")
@_limit("connections", "N", "Clients at once; the next one gets 503.")
@_limit("most_bytes", "N", "Largest request body in bytes.")
@_limit("most_query_characters", "N", "Longest query in characters.")
@_limit("most_k", "N", "Most results of a search.")
@_limit("most_documents", "N", "Most documents of a request to rank.")
@_limit("most_text_characters", "N", "Longest text to rank or to explain, in characters.")
@_limit("drain_seconds", "SECONDS", "Longest time that a stop waits for the requests at work.")
@_limit("poll_seconds", "SECONDS", "Seconds between two looks for a newer model or index.")
def serve(model: str, index: str | None, tf_serving: str | None, model_name: str, **limits: Any) -> None:
    """Serve the index of a MODEL: search, ranking and explanations over HTTP, and a page.

    MODEL is a run's output folder, its serving folder, or one version in it. A newer model or index takes the place of
    the older one without a pause. There is no password: anyone who reaches the address can search.

    Example: clir serve runs/sample --port 8080
    """
    try:
        settings = ServiceSettings(**limits)
    except pydantic.ValidationError as error:
        (fault, *_) = error.errors()
        option = f"--{str(fault['loc'][0]).replace('_', '-')}"
        raise click.UsageError(f"{option}: {fault['msg']}; got {fault['input']}.") from None
    place = index_place(model, index)
    with heavy_imports():
        from serving.service import Service

        source = _source(place, tf_serving, model_name, settings.seconds)
    say("loading")
    service = Service(source, settings, sys.stderr)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    if not service.run(lambda port: show(f"http://{host}:{port}/")):
        say("the time to finish requests is over; some were cut off")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)  # their threads would keep the process alive


def _source(place: IndexPlace, tf_serving: str | None, model_name: str, seconds: float) -> "FolderEngines":
    """The source of engines."""
    from serving.newest_engine import FolderEngines

    connect = None
    if tf_serving:
        from serving.tf_serving_client import TfServingModel

        def connect(version: str) -> TfServingModel:
            return TfServingModel(tf_serving, model_name, version, seconds)

    return FolderEngines(place.models, place.index_folder, connect, _languages(place.config))


def _languages(config: Path) -> "Languages | None":
    """The languages of the run that made the model, if its configuration is still there."""
    from serving.engine import Languages

    if not config.is_file():
        return None
    content, _, _ = read_run_settings(str(config))
    data = content.get("data")
    if not isinstance(data, dict):
        return None
    query, document = data.get("query_language"), data.get("document_language")
    return Languages(query, document) if isinstance(query, str) and isinstance(document, str) else None
