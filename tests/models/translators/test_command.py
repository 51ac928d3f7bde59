"""models/translators/command.py, with programs of this machine."""

import re
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.translators.command import ALLOWED, CommandTranslator
from models.translators.settings import CommandSettings
from models.translators.translator import probe_of, with_probe
from schemas.errors import DataError
from tests.models.translators.small_translator import UPPER, program, settings_of

SWAPS = "sys.stdout.write(sys.stdin.read().swapcase())"
ECHO = "sys.stdout.write(sys.stdin.read())"


@pytest.fixture(autouse=True)
def allowed(monkeypatch):
    monkeypatch.setenv(ALLOWED, "*")


def translator_of(settings):
    return CommandTranslator(settings, "fr", "en")


def translator(*codes, **values):
    """A translator of programs in a row, with its own probe."""
    settings = settings_of(*codes, **values)
    return translator_of(settings.model_copy(update={"probe": translator_of(settings).probe()}))


def fault(*codes, **values):
    """The error of the probe of programs."""
    with pytest.raises(DataError) as caught:
        translator_of(settings_of(*codes, **values)).probe()
    return str(caught.value)


# Translations


def test_texts_come_back_in_their_order_and_programs_in_a_row_read_each_other_s_output():
    texts = ["Le loup. Deux phrases", "l'été", "a & b > c | d"]
    assert translator(UPPER).translate(texts) == ["LE LOUP. DEUX PHRASES", "L'ÉTÉ", "A & B > C | D"]
    assert translator(UPPER, SWAPS).translate(texts) == ["le loup. deux phrases", "l'été", "a & b > c | d"]
    assert translator(UPPER).translate([]) == []


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(lambda text: f"x {text}"), max_size=9)
)
def test_a_program_that_changes_nothing_gives_back_every_text_on_one_line(texts):
    lines = [" ".join(text.replace("\0", "").split()) for text in texts]
    assert translator_of(settings_of(ECHO, probe=probe_of("fr"))).translate(lines) == lines


def test_a_text_may_have_no_translation_and_ends_of_lines_may_be_those_of_windows():
    assert translator(f"{ECHO.replace('read()', 'read().replace(chr(120), str())')}").translate(["x", "y"]) == ["", "y"]
    assert translator(r"sys.stdout.buffer.write(sys.stdin.buffer.read().replace(b'\n', b'\r\n'))").translate(
        ["a", "b"]
    ) == ["a", "b"]
    assert translator("sys.stdout.write(sys.stdin.read().rstrip())").translate(["a", "b"]) == ["a", "b"]


@pytest.mark.skipif(not shutil.which("apertium"), reason="Apertium is not installed")
def test_apertium_keeps_the_texts_apart():
    known = CommandSettings(command=["apertium", "-u", "spa-eng"])
    spanish = CommandTranslator(with_probe(known, ("en", "es")), "es", "en")
    assert spanish.translate(["La casa de", "Los perros [corren].", "¿Qué?"]) == [
        "The house of",
        "The dogs [run].",
        "What?",
    ]


# What a program does wrong


def test_texts_that_are_merged_or_divided_are_counted_and_refused():
    assert re.search("read 2 texts and wrote 1", fault(r"sys.stdout.write(sys.stdin.read().replace('\n\n', '\n'))"))
    assert re.search("read 2 texts and wrote 4", fault(r"sys.stdout.write(sys.stdin.read().replace(' ', '\n\n', 2))"))


def test_a_program_that_fails_is_named_with_its_code_and_the_start_of_its_message():
    sentence = fault("sys.exit('no mode \x1b[2J xx-yy' + 'y' * 9999)")
    assert "exit code 1: no mode \ufffd[2J xx-yy" in sentence and len(sentence) < 800
    assert "exit code 3: (no message)" in fault("sys.exit(3)")
    assert "exit code -9" in fault("os.kill(os.getpid(), 9)")
    assert "exit code 7" in fault(UPPER, "sys.exit(7)")


def test_a_program_that_does_not_end_is_ended_with_those_that_it_started(tmp_path):
    child = f"time.sleep(2); open({str(tmp_path / 'late')!r}, 'w')"
    started = time.monotonic()
    sentence = fault(f"os.fork() and time.sleep(60); {child}", timeout_s=0.5)
    assert "within 0.5 s" in sentence and "channels.lexicon.translator.timeout_s" in sentence
    assert time.monotonic() - started < 30
    time.sleep(2.5)
    assert not (tmp_path / "late").exists()


def test_a_program_that_reads_nothing_ends_in_a_sentence():
    assert "wrote 1" in fault("")


def test_a_translation_that_depends_on_the_text_beside_it_is_refused():
    sentence = fault(r"[print(row, text, end='\n\n') for row, text in enumerate(sys.stdin.read().split('\n\n')[:2])]")
    assert "must translate equal texts equally" in sentence
    assert "must translate equal texts equally" in fault(r"print('\n\n\n\n', end='')")  # each into nothing


def test_another_translator_is_noticed_before_and_after_the_texts():
    settings = settings_of(UPPER, probe="before")
    with pytest.raises(DataError, match="has changed.*'before'"):
        translator_of(settings).translate(["a"])
    changes = "text = sys.stdin.read(); sys.stdout.write(text[:99].upper() + text[99:])"
    with pytest.raises(DataError, match="has changed, or mixes texts up"):
        translator_of(settings_of(changes, probe=probe_of("fr").upper())).translate(["a", "b"])


# Permission


@pytest.mark.parametrize(("variable", "is_allowed"), [("", False), ("apertium, true", False), ("cat, PYTHON", True)])
def test_no_program_is_started_that_the_user_has_not_allowed(monkeypatch, tmp_path, variable, is_allowed):
    command = program(f"open({str(tmp_path / 'started')!r}, 'w'); {UPPER}")
    monkeypatch.setenv(ALLOWED, variable.replace("PYTHON", command[0]))
    settings = CommandSettings(command=command)
    if is_allowed:
        translator_of(settings).probe()
    else:
        with pytest.raises(DataError, match=rf"--allow-commands, or set {ALLOWED}={command[0]} ") as caught:
            translator_of(settings)
        assert "started" in str(caught.value)  # the command is shown
    assert (tmp_path / "started").exists() == is_allowed


def test_each_program_in_a_row_must_be_allowed(monkeypatch):
    monkeypatch.setenv(ALLOWED, program(UPPER)[0])
    with pytest.raises(DataError, match="`.* | cat`"):
        translator_of(CommandSettings(command=[program(UPPER), ["cat"]]))


def test_a_program_that_is_not_there_is_named_and_no_shell_divides_a_command(tmp_path):
    for command in (["clir-no-such-program", "-u"], [f"touch {tmp_path / 'file'}"]):
        with pytest.raises(DataError, match=f"needs the program {command[0]}"):
            translator_of(CommandSettings(command=command))
    translator_of(CommandSettings(command=[*program(UPPER), f"; touch {tmp_path / 'file'}"])).probe()
    assert [*Path(tmp_path).iterdir()] == []


# Probes


def test_a_language_without_a_sentence_has_that_of_all_languages():
    assert probe_of("es").startswith("El viejo")
    assert probe_of("xx").count("lava") > 10
