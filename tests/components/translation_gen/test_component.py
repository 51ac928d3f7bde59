"""TranslationGen with TFX's artifacts, and a program as translator."""

from pathlib import Path

import pytest

from models.translators.command import ALLOWED
from schemas.errors import DataError
from tests.models.translators.small_translator import UPPER, settings_of

pytestmark = pytest.mark.stages  # it imports TFX

DOCUMENTS = {"d1": "Le loup dort. L'été\u00a0vient.", "d2": "Le loup dort."}
LINES = "LE LOUP DORT.\tLe loup dort.\nL'ÉTÉ VIENT.\tL'été\u00a0vient.\n"


@pytest.fixture
def run(tmp_path, make_artifact, make_collection):
    """Runs the stage; returns the lines of its file."""
    from components.translation_gen.component import TranslationGen

    lines = [f"{doc_id}\tA title\t{text}\n" for doc_id, text in DOCUMENTS.items()]
    collection = make_collection(tmp_path, {"documents": "".join(lines).encode()})
    parents = (tmp_path / f"run_{number}" for number in range(9))

    def run(translator):
        written = make_artifact("Translations", next(parents))
        TranslationGen.test_call(collection, written, map, translator, ("en", "fr"), str(tmp_path / "store"))
        return (Path(written.uri) / "translations.tsv").read_text(encoding="utf-8")

    return run


def test_another_translator_has_a_store_of_its_own_and_the_first_one_s_stays(run, tmp_path, monkeypatch):
    monkeypatch.setenv(ALLOWED, "*")
    upper = settings_of(f"open({str(tmp_path / 'starts')!r}, 'a').write('x'); {UPPER}")
    assert run(upper) == LINES
    title = settings_of("sys.stdout.write(sys.stdin.read().title())")
    assert run(title).startswith("Le Loup Dort.\tLe loup dort.\n")
    assert run(upper) == LINES
    assert len([*(tmp_path / "store").iterdir()]) == 2
    assert (tmp_path / "starts").read_text() == "xxx"  # a probe, the sentences, and the probe of the last run


def test_a_program_that_the_user_has_not_allowed_is_not_started(run, tmp_path, monkeypatch):
    monkeypatch.delenv(ALLOWED, raising=False)
    with pytest.raises(DataError, match="--allow-commands"):
        run(settings_of(f"open({str(tmp_path / 'started')!r}, 'w')"))
    assert not (tmp_path / "started").exists()
