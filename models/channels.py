"""Settings of all channels of a score. Importing this file does not import TensorFlow."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field, model_validator

from models.choices import ENCODER, FEEDBACK, HELD_OUT, SCORES
from models.encoders.settings import EncoderSettings
from models.lexicon.settings import ClLsiSettings, MatchingSettings
from models.rankers.settings import ChannelSettings, EncoderHeadSettings, ScorerSettings, TwoTowersSettings
from schemas.settings import Settings, did_you_mean


class ChannelsSettings(Settings):
    """The channels of the score, which is the score of `towers` plus the weighted scores of the others.

    A channel of another name must name its kind: cl_lsi, or a kind that was added.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ChannelSettings] = Field(init=False)

    towers: ScorerSettings = TwoTowersSettings()
    """The scorer that is trained: the paper's two towers, or another. Its weight is 1."""
    lexicon: MatchingSettings | None = None
    """The channel of matching words; null: none."""
    encoder: EncoderSettings | None = None
    """The pre-trained text encoder; null: none."""
    cl_lsi: ClLsiSettings | None = None
    """The cosine in a space that is learned from the train pairs; null: none."""

    @model_validator(mode="before")
    @classmethod
    def _require_kind(cls, content: Any) -> Any:
        for name, channel in content.items() if isinstance(content, Mapping) else ():
            if name not in cls.model_fields and isinstance(channel, Mapping) and "kind" not in channel:
                known = ", ".join(cls.model_fields)
                raise ValueError(
                    f"{name} must name its kind, or be one of {known}{did_you_mean(name, cls.model_fields)}"
                )
        return content

    @model_validator(mode="after")
    def _check_channels(self) -> "ChannelsSettings":
        if isinstance(self.towers, EncoderHeadSettings) and self.encoder is None:
            raise ValueError("encoder must be given where towers are an encoder_head, which maps the encoder's vectors")
        for name, channel in self.own.items():
            if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
                raise ValueError(f"must be names of lower-case letters, digits and _; got {name!r}")
            if name in (SCORES, FEEDBACK, self.towers.channel, *MatchingSettings.kinds):
                raise ValueError(f"must have names of their own; got {name}, which another part of the score has")
            if channel.kind == ENCODER or channel.kind in MatchingSettings.kinds:
                section = "encoder" if channel.kind == ENCODER else "lexicon"
                raise ValueError(f"{name} must not be of the kind {channel.kind}; write it as channels.{section}")
        return self

    @property
    def own(self) -> dict[str, ChannelSettings]:
        """The channels of other names."""
        return dict(self.__pydantic_extra__ or {})

    @property
    def further(self) -> dict[str, ChannelSettings | EncoderSettings]:
        """All channels except the trained scorer, by their names in the score, in the order of its sum.

        The channel of matching words has the name of its kind. An encoder under a head is not a channel.
        """
        channels: dict[str, ChannelSettings | EncoderSettings] = {}
        if self.lexicon:
            channels[self.lexicon.kind] = self.lexicon
        if self.cl_lsi:
            channels["cl_lsi"] = self.cl_lsi
        channels |= self.own
        if self.encoder and not isinstance(self.towers, EncoderHeadSettings):
            channels[ENCODER] = self.encoder
        return channels

    @property
    def for_training(self) -> dict[str, ChannelSettings]:
        """The settings of the further channels that a training uses, by their names in the score."""
        return {name: channel.for_training() for name, channel in self.further.items()}

    @property
    def has_held_out_weight(self) -> bool:
        """Whether any channel's weight is fitted on training domains that are left out in turn."""
        return any(channel.weight == HELD_OUT for channel in self.further.values())

    def index_fault(self) -> str | None:
        """Returns an error message if an index cannot search the score, or None.

        An index searches a sum of inner products of vectors, and of the weighted terms of at most one channel.
        """
        channels = self.for_training
        kinds = {self.towers.channel: self.towers.indexed_by}
        kinds |= {name: channel.indexed_by for name, channel in channels.items()}
        unindexed = [name for name, kind in kinds.items() if kind is None]
        if unindexed:
            return f"the score of {', '.join(unindexed)} is not an inner product"
        terms = [name for name, kind in kinds.items() if kind == "terms"]
        if len(terms) > 1:
            return f"only one channel may match terms, and there are {', '.join(terms)}"
        return None if "vectors" in kinds.values() else "no channel has vectors"
