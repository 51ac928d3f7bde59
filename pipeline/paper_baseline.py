"""The paper's own system as a baseline: what it is beside another model, on the same prepared data."""

from pipeline.config import RunConfig


def paper_beside(config: RunConfig) -> RunConfig:
    """The paper's system on a run's lists and vocabularies, with its seed and devices, and without word vectors.

    Args:
      config: the run's.

    Returns:
      the preset `paper`, resolved.
    """
    return RunConfig.model_validate(
        {
            "preset": "paper",
            "data": config.data.model_dump(),
            "model": {"vocabulary_size": config.model.vocabulary_size},
            "training": config.training.model_dump(include={"seed", "device", "replicas", "workers"}),
            "output": config.output,
        }
    )
