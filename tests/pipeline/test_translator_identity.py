"""pipeline/translator_identity.py: a resolved configuration names its translator by what it does."""

from pathlib import Path

import pytest

from models.translators.command import ALLOWED
from models.translators.translator import probe_of
from pipeline.config import RunConfig, load_config
from pipeline.translator_identity import with_translator_probe
from schemas.errors import ConfigError, DataError
from tests.models.translators.small_translator import UPPER, settings_of


@pytest.fixture
def config(config_file: Path, monkeypatch: pytest.MonkeyPatch) -> RunConfig:
    monkeypatch.setenv(ALLOWED, "*")
    return load_config(str(config_file), ["lexicon.kind=lexicon"])


def with_translator(config: RunConfig, *codes: str, **others: object) -> RunConfig:
    lexicon = config.lexicon.model_copy(update={"translator": settings_of(*codes, **others)})
    return config.model_copy(update={"lexicon": lexicon})


def test_the_probe_comes_into_the_configuration_and_stays_with_the_same_translator(config: RunConfig) -> None:
    plain = with_translator(config, UPPER)
    resolved = with_translator_probe(plain)
    probe = probe_of(config.data.document_language).upper()
    assert resolved == with_translator(config, UPPER, probe=probe)
    assert with_translator_probe(resolved) == resolved
    assert with_translator_probe(config) == config


def test_a_resolved_configuration_with_the_probe_of_another_translator_is_refused(config: RunConfig) -> None:
    with pytest.raises(ConfigError) as caught:
        with_translator_probe(with_translator(config, UPPER, probe="another sentence"))
    (fault,) = caught.value.faults
    assert fault.startswith("lexicon.translator.probe: ") and "'another sentence'" in fault


def test_a_translator_that_fails_ends_the_run(config: RunConfig) -> None:
    with pytest.raises(DataError, match="exit code 3"):
        with_translator_probe(with_translator(config, "sys.exit(3)"))
