"""`clir compile`: compiles the pipeline for Kubeflow Pipelines."""

import json
from pathlib import Path

import click

from pipeline.kubeflow.cluster_config import load_cluster_config
from pipeline.kubeflow.settings import HEADER
from pipeline.output_folder import write_atomically
from pipeline.output_path import local_fault
from schemas.errors import ConfigError
from smooth_clir.cli.arguments import overrides_option
from smooth_clir.cli.imports import heavy_imports
from smooth_clir.cli.terminal import for_shell, program, say, short


@click.command("compile")
@click.argument("config", type=click.Path())
@click.option("--output", required=True, metavar="FILE.yaml", help="The file to write.")
@click.option("--image", metavar="IMAGE", help="Image of all stages; short for --set kubeflow.image=IMAGE.")
@click.option(
    "--pipeline-root", metavar="URI", help="Storage of artifacts; short for --set kubeflow.pipeline_root=URI."
)
@overrides_option
def compile_command(
    config: str, output: str, image: str | None, pipeline_root: str | None, overrides: tuple[str, ...]
) -> None:
    """Compile the pipeline that CONFIG describes for Kubeflow Pipelines 2.

    The graph is that of `clir run`; docs/kubeflow.md explains how to build an image and start a run.

    Example: clir compile configs/sample.yaml --output pipeline.yaml --image registry.example/clir:1
    """
    path = Path(output)
    if fault := _fault(output):
        raise ConfigError([f"--output: {fault}"])
    short_forms = {"kubeflow.image": image, "kubeflow.pipeline_root": pipeline_root}
    options = [f"{key}={json.dumps(value)}" for key, value in short_forms.items() if value is not None]
    settings = load_cluster_config(config, [*overrides, *options], say)
    with heavy_imports():
        from pipeline.kubeflow.compile_pipeline import compile_pipeline
    write_atomically(path, compile_pipeline(settings))
    root = settings.kubeflow.pipeline_root or "the pipeline root of the installation"
    say(f"written to {short(output)}, for the image {settings.kubeflow.image}; artifacts go to {root}")
    say(f"\nnext:\n  {program('kfp')} run create --experiment-name clir --package-file {for_shell(output)}")


def _fault(output: str) -> str | None:
    """Returns the reason why a specification cannot be written, or None."""
    path = Path(output)
    if path.suffix != ".yaml":
        return f"must end in .yaml, which tells Kubeflow the format; got {path}."
    if fault := local_fault(output, "file"):
        return fault
    if path.exists() and path.stat().st_size and not path.read_bytes().startswith(HEADER.encode()):
        return f"{path} already exists, and clir compile did not write it: choose another name."
    return None
