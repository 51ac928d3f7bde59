"""Templates whose text no pattern can give: measures, dates, and the Italian biography.

Each function takes a template's arguments (by name, those without a name by their number; no empty ones) and returns
its text, or None if they are too few. `kept_templates` names the templates and their sources.
"""

import re
from collections.abc import Callable, Mapping
from itertools import count, takewhile
from typing import Final, TypeAlias

Arguments: TypeAlias = Mapping[str, str]
Function: TypeAlias = Callable[[Arguments], str | None]

_NUMBER: Final = re.compile(r"[-−+]?\W?\d")
_BETWEEN: Final = {
    **dict.fromkeys(("-", "–", "to(-)", "and(-)"), "–"),
    **dict.fromkeys(("x", "×", "*"), " × "),
    **dict.fromkeys(("+/-", "±"), " ± "),
    **{word: f" {word} " for word in ("to about", *"to by and or a à y o e ou i do до и bis und & +".split())},
}
"""The words between the numbers of a range, in the languages of the wikis that have the template."""
_UNITS: Final = {"C": "°C", "F": "°F", "sqmi": "sq mi", "sqft": "sq ft"}
"""Codes of units that are no words."""


def measure(given: Arguments) -> str | None:
    """Returns a measure as it is given, without the converted one; a range and a measure of two units as a whole.

    Example:
      >>> measure({"1": "10", "2": "to", "3": "15", "4": "cm", "5": "in"})
      '10 to 15 cm'
      >>> measure({"1": "5", "2": "ft", "3": "7+1/2", "4": "in", "5": "m"})
      '5 ft 7 1/2 in'
    """
    values = [value for name, value in given.items() if name.isdecimal()]
    pieces: list[str] = []
    for place in range(0, len(values) - 1, 2):
        number, word = values[place : place + 2]
        # A number that no unit follows says how the converted measure is rounded.
        if not _NUMBER.match(number) or _NUMBER.match(word):
            break
        is_range = word in _BETWEEN and place + 3 < len(values)
        pieces += (
            number.replace("//", "/").replace("+", " "),
            _BETWEEN[word] if is_range else f" {_UNITS.get(word, word)} ",
        )
    return "".join(pieces).strip() or None


_JOINED: Final = {
    "à": " à {}", "et": " et {}", "ou": " ou {}", "-": "–{}", "–": "–{}", "/": "/{}", "x": " × {}", "xx": " × {}",
    "±": " ± {}", "e": "×10{}", "exp": "×10{}",
}  # fmt: skip
"""The arguments of the French template that follow its first number, in the order in which it shows them."""
_EXPONENT: Final = re.compile(r"[-−+]?\d+")


def unit(given: Arguments) -> str | None:
    """Returns a measure of the French template: one or two values, and units with their exponents.

    Example:
      >>> unit({"1": "500", "à": "2000", "2": "km", "3": "2"})
      '500 à 2000 km2'
      >>> unit({"1": "3", "2": "km", "3": "2", "4": "400", "5": "m"})
      '3 km2 400 m'
    """
    if "1" not in given:
        return None
    text = given["1"] + "".join(form.format(given[name]) for name, form in _JOINED.items() if name in given)
    may_be_exponent = False
    for value in takewhile(bool, (given.get(str(number), "") for number in count(2))):
        is_exponent = may_be_exponent and _EXPONENT.fullmatch(value)
        text += value if is_exponent else f" {value}"
        may_be_exponent = not is_exponent
    return text


def date_in(months: str, form: str, order: str = "day month year", day_first: str = "") -> Function:
    """Returns a function for the dates of a language.

    Args:
      months: the names of the twelve months.
      form: the text of a whole date, with `{day}`, `{month}` and `{year}`.
      order: the order of the template's arguments; a single argument is a date as in ISO 8601.
      day_first: the form for a template with an argument `df`.

    Example:
      >>> portuguese = date_in("janeiro fevereiro março", "{day} de {month} de {year}")
      >>> portuguese({"1": "5", "2": "3", "3": "1901"}), portuguese({"1": "1901"})
      ('5 de março de 1901', '1901')
    """
    names = months.split()
    places = order.split()

    def date(given: Arguments) -> str | None:
        parts = [given[number] for number in takewhile(given.__contains__, "123")]
        if len(parts) == 1 and parts[0].count("-") == 2:
            parts = [dict(zip(("year", "month", "day"), parts[0].split("-"), strict=True))[place] for place in places]
        if len(parts) < 3:
            return " ".join(parts) or None
        value = dict(zip(places, parts, strict=True))
        number = value["month"]
        if number.isdecimal() and 1 <= int(number) <= len(names):
            value["month"] = names[int(number) - 1]
        value["day"] = value["day"].lstrip("0")
        return (day_first if day_first and "df" in given else form).format(**value)

    return date


def biography(given: Arguments) -> str | None:
    """Returns the first sentence of an Italian article on a person.

    Example:
      >>> biography({"nome": "Ada", "cognome": "Rossi", "sesso": "F", "luogonascita": "Roma", "annonascita": "1950",
      ...            "attività": "attrice", "nazionalità": "italiana"})
      "'''Ada Rossi''' (Roma, 1950) è un'attrice italiana."
    """
    names = [given[key] for key in ("nome", "cognome") if key in given]
    if not names:
        return None
    ending = given.get("fineincipit") or _occupation(given)
    if not ending:
        return None
    text = f"{given['titolo']} " if "titolo" in given else ""
    text += f"'''{' '.join(reversed(names) if 'cognomeprima' in given else names)}'''"
    if alias := given.get("postcognomevirgola"):
        text += f", {alias}"
    text += _joined(given.get("postcognome", ""))
    birth, death = _event(given, "nascita"), _event(given, "morte")
    life = f"{birth or '...'} – {death}" if death else birth
    if life := "; ".join(filter(None, (given.get("predata"), life))):
        text += f" ({life})"
    text += "," if alias else ""
    has_point = given.get("punto", "").lower() != "no"
    return text + _joined(ending) + ("." if has_point else "")


def _event(given: Arguments, name: str) -> str:
    """Returns the place and the date of a birth or death."""
    place = given.get(f"luogo{name}alt") or given.get(f"luogo{name}")
    year = given.get(f"anno{name}", "").replace("?", "...")
    date = " ".join(filter(None, (given.get(f"giornomese{name}"), year)))
    return ", ".join(filter(None, (place, date)))


def _occupation(given: Arguments) -> str:
    """Returns the occupations of a person and what follows them, with the verb; "" if there is none."""
    some = [given[key] for key in ("attività", "attività2", "attività3") if key in given]
    before = given.get("preattività")
    if not some and not before:
        return ""
    female = given.get("sesso") == "F"
    if not before:
        before = f"è {'stata' if female else 'stato'}" if "annomorte" in given else "è"
        before += _article(some[0], female)
    elif not before.endswith(("'", "’")):
        before += " "
    others = given.get("attivitàaltre")
    listed = ", ".join(some) if others or len(some) < 2 else f"{', '.join(some[:-1])} e {some[-1]}"
    text = before + listed + _joined(others or "") + _joined(given.get("nazionalità", ""))
    if other := given.get("nazionalitànaturalizzato"):
        text += f" {'naturalizzata' if female else 'naturalizzato'} {other}"
    return text + _joined(given.get("postnazionalità", ""))


_UNO: Final = re.compile(r"z|gn|p[sn]|x|y|s[^aeiouàèéìòù]|[ij][aeou]", re.IGNORECASE)


def _article(noun: str, female: bool) -> str:
    """Returns the indefinite article of an Italian noun, and the spaces around it."""
    if female:
        return " un'" if noun[:1].lower() in "aeiouàèéìòù" else " una "
    return " uno " if _UNO.match(noun) else " un "


def _joined(text: str) -> str:
    """Returns a text to follow another, after a space unless it begins with a sign or a space."""
    return text if not text or text.startswith((",", ";", ":", ".", ")", "&nbsp;", "'s")) else f" {text}"
