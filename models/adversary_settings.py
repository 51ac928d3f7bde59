"""Settings of the discriminator of domains. Importing this file does not import TensorFlow."""

from typing import Annotated, Literal

from pydantic import Field

from models.kinds import Count
from schemas.settings import Settings


class AdversarySettings(Settings):
    """The discriminator of domains that training works against (Cohen et al. 2018); see docs/domains.md."""

    weight: Annotated[float, Field(ge=0, le=1e12)] = 0.0
    """Weight of the discriminator's cross entropy (the paper's lambda); that of the loss is 1. 0: no discriminator."""
    hidden: Count = 64
    """Number of units of its hidden layer."""
    updates: Literal["simultaneous", "alternate"] = "simultaneous"
    """Order of a step's updates: the ranker and the discriminator at the same time, or first the discriminator, and
    then the ranker against the updated discriminator (alternate)."""
    held_out_texts: bool = False
    """Show the train queries of the held-out domains to the discriminator, each with two random documents of its
    domain, and count their words in the vocabularies. Their judgments are never read."""
