"""The identity of a pre-trained encoder: a digest that changes with its vectors."""

import hashlib
import json
import logging
from pathlib import Path

from models.encoders.settings import TEXT_FORM, EncoderSettings, EndpointSettings, VectorsSettings
from pipeline.config import RunConfig, with_channel
from schemas.errors import ConfigError
from schemas.json_files import parse_json

_FILE = "endpoints.json"

log = logging.getLogger("clir.data")


def encoder_digest(settings: EncoderSettings) -> str:
    """Returns SHA-256 of everything that decides an encoder's vectors: settings, digests of files, an endpoint's
    fingerprint, and the form of its texts.

    Args:
      settings: resolved, with digests and fingerprint.
    """
    parts = dict(settings.deciding)
    if not isinstance(settings, VectorsSettings):
        parts["text_form"] = TEXT_FORM.model_dump()
    if settings.kind == "use_multilingual":
        from models.encoders.use_multilingual import DIGEST  # takes seconds to import

        parts["weights"] = DIGEST
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def with_fingerprint(config: RunConfig, store: Path) -> RunConfig:
    """Returns the configuration with the fingerprint of its endpoint, if it has one.

    Keeps an earlier fingerprint that the endpoint still matches, because roundings differ.

    Args:
      config: the configuration.
      store: folder of the vectors of all encoders, with the fingerprints of earlier runs.

    Raises:
      DataError: the endpoint does not answer.
      ConfigError: the endpoint does not match the fingerprint of the configuration.
    """
    settings = config.channels.encoder
    if not isinstance(settings, EndpointSettings):
        return config
    from models.encoders.endpoint import EndpointEncoder, fingerprint, fingerprint_fault

    current = fingerprint(EndpointEncoder(settings).probe())
    if settings.probes and (fault := fingerprint_fault(settings.probes, current)):
        raise ConfigError(
            [
                f"channels.encoder.probes: the endpoint {settings.address} has another model than when the "
                f"configuration was resolved: {fault}. Start it with that model, or remove the probes."
            ]
        )
    key = encoder_digest(settings.model_copy(update={"probes": ()}))
    known = _read(store / _FILE)
    earlier = known.get(key, ())  # the newest last
    matches = [probes for probes in (settings.probes, *earlier) if probes and not fingerprint_fault(probes, current)]
    if earlier and (fault := fingerprint_fault(earlier[-1], current)):
        consequence = "earlier vectors of this model are used again" if matches else "all texts are encoded again"
        log.warning("the endpoint %s has another model than before (%s): %s", settings.address, fault, consequence)
    current = matches[0] if matches else current
    store.mkdir(parents=True, exist_ok=True)
    fingerprints = {**known, key: (*(probes for probes in earlier if probes != current), current)}
    (store / _FILE).write_text(json.dumps(fingerprints, indent=1) + "\n", encoding="utf-8")
    return with_channel(config, "encoder", settings.model_copy(update={"probes": current}))


def _read(path: Path) -> dict[str, tuple[tuple[float, ...], ...]]:
    """The fingerprints by the digest of the settings; empty if the file is missing or damaged."""
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
        return {str(key): tuple(tuple(map(float, probes)) for probes in rows) for key, rows in content.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
