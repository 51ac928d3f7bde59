"""A CPU, one GPU, all GPUs (`MirroredStrategy`), and a worker for each: the same training, and the input's share of it.

    .venv/bin/python benchmarks/gpu.py
    .venv/bin/python benchmarks/gpu.py configs/bible_en_tl.yaml --batch-lists 256

See benchmarks/workers.py, which does the same on CPUs. It needs a GPU that TensorFlow finds; with one alone, the ways
that need several are left out.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
import tensorflow as tf
from workers import compare

from models.settings import TrainingSettings


@click.command()
@click.argument("config_path", metavar="[CONFIG]", type=click.Path(), required=False)
@click.option("--epochs", default=3, show_default=True, type=click.IntRange(min=2))
@click.option("--batch-lists", default=64, show_default=True, type=click.IntRange(min=2))
def main(config_path: str | None, epochs: int, batch_lists: int) -> None:
    """Prints the trainings."""
    gpus = len(tf.config.list_physical_devices("GPU"))
    if not gpus:
        raise click.ClickException("TensorFlow finds no GPU; install the GPU lock and a driver.")
    if batch_lists % gpus:
        raise click.ClickException(f"--batch-lists must be a multiple of the GPUs, {gpus}; got {batch_lists}.")
    tf.config.set_visible_devices([], "GPU")  # of this process, which trains in others
    one = TrainingSettings(epochs=epochs, batch_lists=batch_lists, device="gpu", replicas=1).for_encoder("mean")
    several = {
        f"{gpus} GPUs": one.model_copy(update={"replicas": gpus}),
        f"{gpus} GPUs, a worker each": one.model_copy(update={"workers": gpus}),
    }
    cpu = one.model_copy(update={"device": "cpu"})
    compare(config_path, {"one CPU": cpu, "one GPU": one, **(several if gpus > 1 else {})})


if __name__ == "__main__":
    main()
