"""From settings to a pre-trained encoder."""

from models.encoders.pretrained_encoder import GraphEncoder, PretrainedEncoder
from models.encoders.settings import IN_GRAPH, EncoderSettings


def load_encoder(settings: EncoderSettings) -> PretrainedEncoder:
    """Loads the encoder that settings name; files of vectors are none.

    Raises:
      DataError: it cannot be loaded.
      ValueError: the kind is none or vectors.
    """
    if settings.kind == "endpoint":
        from models.encoders.endpoint import EndpointEncoder

        return EndpointEncoder(settings)
    return load_graph_encoder(settings)


def load_graph_encoder(settings: EncoderSettings) -> GraphEncoder:
    """Loads an encoder that becomes a part of an exported model; see `load_encoder`."""
    if settings.kind == "saved_model":
        from models.encoders.saved_model import SavedModelEncoder

        return SavedModelEncoder(settings)
    if settings.kind == "use_multilingual":
        from models.encoders.use_multilingual import UseMultilingual

        return UseMultilingual(settings)
    raise ValueError(f"the kind must be one of {', '.join(IN_GRAPH)}, or endpoint; got {settings.kind}")
