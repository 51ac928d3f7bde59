"""Renders templates whose text no pattern can describe: measures, dates, and the Italian biography.

Each function takes a template's nonempty arguments (by name, or by number) and returns its text, or None if arguments
are missing. `kept_templates` names the templates and their sources.
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
"""Codes of units that are not words."""


def measure(arguments: Arguments) -> str | None:
    """Returns a measure as written, without its conversion; also a range, or a measure of two units.

    Example:
      >>> measure({"1": "10", "2": "to", "3": "15", "4": "cm", "5": "in"})
      '10 to 15 cm'
      >>> measure({"1": "5", "2": "ft", "3": "7+1/2", "4": "in", "5": "m"})
      '5 ft 7 1/2 in'
    """
    values = [value for name, value in arguments.items() if name.isdecimal()]
    pieces: list[str] = []
    for index in range(0, len(values) - 1, 2):
        number, word = values[index : index + 2]
        # A number without a unit rounds the conversion.
        if not _NUMBER.match(number) or _NUMBER.match(word):
            break
        is_range = word in _BETWEEN and index + 3 < len(values)
        pieces += (
            number.replace("//", "/").replace("+", " "),
            _BETWEEN[word] if is_range else f" {_UNITS.get(word, word)} ",
        )
    return "".join(pieces).strip() or None


_JOINED: Final = {
    "à": " à {}", "et": " et {}", "ou": " ou {}", "-": "–{}", "–": "–{}", "/": "/{}", "x": " × {}", "xx": " × {}",
    "±": " ± {}", "e": "×10{}", "exp": "×10{}",
}  # fmt: skip
"""The arguments of the French template after its first number, in the order in which it shows them."""
_EXPONENT: Final = re.compile(r"[-−+]?\d+")


def unit(arguments: Arguments) -> str | None:
    """Returns a measure of the French template: one or two values, and units with their exponents.

    Example:
      >>> unit({"1": "500", "à": "2000", "2": "km", "3": "2"})
      '500 à 2000 km2'
      >>> unit({"1": "3", "2": "km", "3": "2", "4": "400", "5": "m"})
      '3 km2 400 m'
    """
    if "1" not in arguments:
        return None
    text = arguments["1"] + "".join(form.format(arguments[name]) for name, form in _JOINED.items() if name in arguments)
    may_be_exponent = False
    for value in takewhile(bool, (arguments.get(str(number), "") for number in count(2))):
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
    fields = order.split()

    def date(arguments: Arguments) -> str | None:
        parts = [arguments[number] for number in takewhile(arguments.__contains__, "123")]
        if len(parts) == 1 and parts[0].count("-") == 2:
            parts = [dict(zip(("year", "month", "day"), parts[0].split("-"), strict=True))[field] for field in fields]
        if len(parts) < 3:
            return " ".join(parts) or None
        value = dict(zip(fields, parts, strict=True))
        number = value["month"]
        if number.isdecimal() and 1 <= int(number) <= len(names):
            value["month"] = names[int(number) - 1]
        value["day"] = value["day"].lstrip("0")
        return (day_first if day_first and "df" in arguments else form).format(**value)

    return date


def biography(arguments: Arguments) -> str | None:
    """Returns the first sentence of an Italian article on a person.

    Example:
      >>> biography({"nome": "Ada", "cognome": "Rossi", "sesso": "F", "luogonascita": "Roma", "annonascita": "1950",
      ...            "attività": "attrice", "nazionalità": "italiana"})
      "'''Ada Rossi''' (Roma, 1950) è un'attrice italiana."
    """
    names = [arguments[key] for key in ("nome", "cognome") if key in arguments]
    if not names:
        return None
    ending = arguments.get("fineincipit") or _occupation(arguments)
    if not ending:
        return None
    text = f"{arguments['titolo']} " if "titolo" in arguments else ""
    text += f"'''{' '.join(reversed(names) if 'cognomeprima' in arguments else names)}'''"
    if alias := arguments.get("postcognomevirgola"):
        text += f", {alias}"
    text += _joined(arguments.get("postcognome", ""))
    birth, death = _event(arguments, "nascita"), _event(arguments, "morte")
    life = f"{birth or '...'} – {death}" if death else birth
    if life := "; ".join(filter(None, (arguments.get("predata"), life))):
        text += f" ({life})"
    text += "," if alias else ""
    has_point = arguments.get("punto", "").lower() != "no"
    return text + _joined(ending) + ("." if has_point else "")


def _event(arguments: Arguments, name: str) -> str:
    """Returns the place and the date of a birth or death."""
    location = arguments.get(f"luogo{name}alt") or arguments.get(f"luogo{name}")
    year = arguments.get(f"anno{name}", "").replace("?", "...")
    date = " ".join(filter(None, (arguments.get(f"giornomese{name}"), year)))
    return ", ".join(filter(None, (location, date)))


def _occupation(arguments: Arguments) -> str:
    """Returns the occupations of a person and what follows them, with the verb; "" without occupations."""
    jobs = [arguments[key] for key in ("attività", "attività2", "attività3") if key in arguments]
    before = arguments.get("preattività")
    if not jobs and not before:
        return ""
    female = arguments.get("sesso") == "F"
    if not before:
        before = f"è {'stata' if female else 'stato'}" if "annomorte" in arguments else "è"
        before += _article(jobs[0], female)
    elif not before.endswith(("'", "’")):
        before += " "
    further = arguments.get("attivitàaltre")
    listed = ", ".join(jobs) if further or len(jobs) < 2 else f"{', '.join(jobs[:-1])} e {jobs[-1]}"
    text = before + listed + _joined(further or "") + _joined(arguments.get("nazionalità", ""))
    if nationality := arguments.get("nazionalitànaturalizzato"):
        text += f" {'naturalizzata' if female else 'naturalizzato'} {nationality}"
    return text + _joined(arguments.get("postnazionalità", ""))


_UNO: Final = re.compile(r"z|gn|p[sn]|x|y|s[^aeiouàèéìòù]|[ij][aeou]", re.IGNORECASE)


def _article(noun: str, female: bool) -> str:
    """Returns the indefinite article of an Italian noun, and the spaces around it."""
    if female:
        return " un'" if noun[:1].lower() in "aeiouàèéìòù" else " una "
    return " uno " if _UNO.match(noun) else " un "


def _joined(text: str) -> str:
    """Returns a text to follow another, after a space unless it begins with a sign or a space."""
    return text if not text or text.startswith((",", ";", ":", ".", ")", "&nbsp;", "'s")) else f" {text}"
