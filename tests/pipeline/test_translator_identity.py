"""pipeline/translator_identity.py: a resolved configuration names its translator by what it does."""

from operator import attrgetter
from pathlib import Path

import pytest

from models.translators.command import ALLOWED
from models.translators.translator import probe_of
from pipeline.config import RunConfig, with_channel
from pipeline.config_file import load_config
from pipeline.translator_identity import with_translator_probes
from schemas.errors import ConfigError, DataError
from tests.models.translators.small_translator import UPPER, settings_of


@pytest.fixture(params=["channels.lexicon.translator", "evaluation.query_translator"])
def setting(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def config(config_file: Path, monkeypatch: pytest.MonkeyPatch) -> RunConfig:
    monkeypatch.setenv(ALLOWED, "*")
    return load_config(str(config_file), ["channels.lexicon.kind=lexicon"])


def with_translator(config: RunConfig, setting: str, *codes: str, **options: object) -> RunConfig:
    section, _, name = setting.rpartition(".")
    settings = attrgetter(section)(config).model_copy(update={name: settings_of(*codes, **options)})
    if section == "evaluation":
        return config.model_copy(update={section: settings})
    return with_channel(config, "lexicon", settings)


def test_the_probe_comes_into_the_configuration_and_stays_with_the_same_translator(
    config: RunConfig, setting: str
) -> None:
    plain = with_translator(config, setting, UPPER)
    resolved = with_translator_probes(plain)
    data = config.data
    translated = data.document_language if setting == "channels.lexicon.translator" else data.query_language
    assert resolved == with_translator(config, setting, UPPER, probe=probe_of(translated).upper())
    assert with_translator_probes(resolved) == resolved
    assert with_translator_probes(config) == config


def test_a_resolved_configuration_with_the_probe_of_another_translator_is_refused(
    config: RunConfig, setting: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        with_translator_probes(with_translator(config, setting, UPPER, probe="another sentence"))
    (fault,) = caught.value.faults
    assert fault.startswith(f"{setting}.probe: ") and "'another sentence'" in fault


def test_a_translator_that_fails_ends_the_run(config: RunConfig, setting: str) -> None:
    with pytest.raises(DataError, match="exit code 3"):
        with_translator_probes(with_translator(config, setting, "sys.exit(3)"))
