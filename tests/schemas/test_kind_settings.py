"""schemas/settings.py: sections of several kinds, in the settings of a small zoo."""

import copy
from typing import Annotated, Any, ClassVar, Literal

import jsonschema
import pydantic
import pytest
from pydantic import Field

from schemas.settings import KindSettings, Settings, expand_kinds


class Plant(KindSettings):
    """A plant, which has a kind of its own word."""

    kinds: ClassVar[dict[str, type[Any]]] = {}
    kind_key: ClassVar[str] = "species"
    default_kind: ClassVar[str | None] = "grass"

    species: str
    """Species of the plant."""


@Plant.add
class Grass(Plant):
    """Grass."""

    species: Literal["grass"] = "grass"
    height: float = 0.1
    """Height in metres."""


class Animal(KindSettings):
    """An animal."""

    kinds: ClassVar[dict[str, type[Any]]] = {}

    kind: str
    """Kind of the animal."""
    name: str = ""
    """Its name."""
    food: Plant | None = None
    """The animal's food."""


class Swimmer(Animal):
    """A class between a base and its kinds, which is no kind itself."""

    fins: Annotated[int, Field(ge=0)] = 2
    """Number of its fins."""


@Animal.add
class Fish(Swimmer):
    """A fish."""

    kind: Literal["fish"] = "fish"


@Animal.add
class Seal(Swimmer):
    """A seal."""

    kind: Literal["seal"] = "seal"
    fins: Annotated[int, Field(ge=0)] = 4
    """Number of its fins."""


@Animal.add
class Bird(Animal):
    """A bird."""

    kind: Literal["bird"] = "bird"
    wings: Annotated[int, Field(ge=0)]
    """Number of its wings."""


class Zoo(Settings):
    """A zoo."""

    star: Animal = Seal()
    """The animal on the posters."""
    guest: Animal | None = None
    """The animal of the week."""
    lawn: Plant = Grass()
    """The plant before the gate."""
    cages: dict[str, Animal] = {}
    """The others by their cages."""


def faults_of(content: object) -> dict[tuple[object, ...], str]:
    """The messages of a zoo's faults by their keys."""
    with pytest.raises(pydantic.ValidationError) as error:
        Zoo.model_validate(content)
    return {fault["loc"]: fault["msg"] for fault in error.value.errors()}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({}, Zoo()),
        ({"star": "fish"}, Zoo(star=Fish())),
        ({"star": {"kind": "fish", "fins": 3}}, Zoo(star=Fish(fins=3))),
        ({"star": {"kind": "seal", "food": "grass"}}, Zoo(star=Seal(food=Grass()))),
        ({"guest": "seal", "lawn": "grass"}, Zoo(guest=Seal())),
        ({"guest": None, "lawn": {"height": 2}}, Zoo(lawn=Grass(height=2))),
        ({"cages": {"a": "fish", "b": {"kind": "bird", "wings": 2}}}, Zoo(cages={"a": Fish(), "b": Bird(wings=2)})),
    ],
)
def test_a_section_is_of_the_kind_that_it_names_or_of_the_default_one(content: dict[str, Any], expected: Zoo) -> None:
    before = copy.deepcopy(content)
    expanded = expand_kinds(Zoo, content)
    assert content == before
    assert Zoo.model_validate(content) == Zoo.model_validate(expanded) == expected
    assert expand_kinds(Zoo, expanded) == expanded


def test_bare_names_become_sections_and_everything_else_stays() -> None:
    content = {"star": {"kind": "seal", "food": "grass"}, "guest": "dragon", "lawn": {}, "cages": [3], "name": "x"}
    assert expand_kinds(Zoo, content) == {
        **content,
        "star": {"kind": "seal", "food": {"species": "grass"}},
        "guest": {"kind": "dragon"},
    }
    assert expand_kinds(Zoo, "seal") == "seal"


@pytest.mark.parametrize(
    ("section", "key", "shown"),
    [
        ("seel", ("star", "kind"), "must be one of fish, seal, bird; got 'seel'; did you mean seal?"),
        ({"kind": "{0}"}, ("star", "kind"), "must be one of fish, seal, bird; got '{0}'"),
        ({"kind": ["fish"]}, ("star", "kind"), "must be one of fish, seal, bird; got ['fish']"),
        ({"fins": 3}, ("star", "kind"), "must be one of fish, seal, bird; got nothing"),
        (["fish"], ("star",), "must be a section, or the name of a kind: fish, seal, bird; got ['fish']"),
        (None, ("star",), "must be a section, or the name of a kind: fish, seal, bird; got None"),
        (Grass(), ("star",), "must be a section, or the name of a kind: fish, seal, bird; got"),
    ],
)
def test_what_names_no_kind_is_refused_with_all_kinds(section: object, key: tuple[str, ...], shown: str) -> None:
    ((loc, message),) = faults_of({"star": section}).items()
    assert loc == key and shown in message


def test_a_key_of_another_kind_is_unknown() -> None:
    assert [*faults_of({"star": {"kind": "fish", "wings": 2}})] == [("star", "wings")]


def test_all_faults_of_all_sections_are_reported_at_once() -> None:
    content = {
        "star": {"kind": "fish", "fins": -1, "wings": 2, "food": {"height": "x"}},
        "guest": "bird",
        "lawn": {"species": "gras"},
        "cages": {"a": "fsh", "b": 3},
        "cafe": "x",
    }
    assert {".".join(map(str, loc)) for loc in faults_of(content)} == {
        *("star.fins", "star.wings", "star.food.height", "guest.wings", "lawn.species", "cages.a.kind", "cages.b"),
        "cafe",
    }


ZOO = Zoo(star=Fish(fins=3, food=Grass(height=2)), cages={"a": Bird(wings=2), "b": Seal()})


def test_a_section_writes_the_settings_of_its_kind_and_is_read_back() -> None:
    plain = ZOO.model_dump()
    assert plain["star"] == {"kind": "fish", "name": "", "food": {"species": "grass", "height": 2}, "fins": 3}
    assert plain["cages"]["a"]["wings"] == 2
    assert Zoo.model_validate(plain) == ZOO
    assert Zoo.model_validate_json(ZOO.model_dump_json()) == ZOO
    assert Animal.model_validate(ZOO.star) is ZOO.star


def test_the_json_schema_knows_bare_names_and_the_keys_of_each_kind() -> None:
    schema = jsonschema.Draft202012Validator(Zoo.model_json_schema())
    good = [ZOO.model_dump(mode="json"), {}, {"star": "bird"}, {"guest": None}, {"star": {"kind": "bird", "wings": 0}}]
    bad: list[object] = [
        *({"star": section} for section in ("dragon", None, {"kind": "fish", "wings": 2}, {"kind": "bird"})),
        {"guest": {"kind": "fish", "fins": -1}},
        {"star": {"kind": "seal", "food": "dragon"}},
    ]
    assert [schema.is_valid(content) for content in good] == [True] * len(good)
    assert [schema.is_valid(content) for content in bad] == [False] * len(bad)


def test_a_kind_may_be_added_later(monkeypatch: pytest.MonkeyPatch) -> None:
    class Snake(Animal):
        """A snake."""

        kind: Literal["snake"] = "snake"
        length: float = 1.0
        """Length in metres."""

    monkeypatch.setitem(Animal.kinds, "snake", Snake)
    assert Zoo.model_validate({"star": {"kind": "snake", "length": 2}}).star == Snake(length=2)
    assert Zoo(star=Snake()).model_dump()["star"]["length"] == 1
