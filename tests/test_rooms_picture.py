"""The picture of the rooms, docs/images/rooms.svg."""

import re
from collections.abc import Iterator

from tests.test_imports import MAY_IMPORT, ROOT

PICTURE = (ROOT / "docs" / "images" / "rooms.svg").read_text(encoding="utf-8")
TIP = 3
"""The space between an arrow's tip and the box that it points to."""


def boxes() -> Iterator[tuple[str, str, tuple[int, int, int, int]]]:
    """The name in each box of the picture, the box's kind, and its left, top, right and lower edge."""
    box = r'<rect class="box (\w+)" x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"[^>]*/>\s*<text [^>]*>(\w+)<'
    for kind, *numbers, name in re.findall(box, PICTURE):
        x, y, width, height = map(int, numbers)
        yield name, kind, (x, y, x + width, y + height)


def box_at(x: int, y: int) -> str | None:
    """The name in the box that a point lies in, or beside."""
    for name, _, (left, top, right, bottom) in boxes():
        if left - TIP <= x <= right + TIP and top - TIP <= y <= bottom + TIP:
            return name
    return None


def arrows() -> Iterator[tuple[str | None, str | None]]:
    """The boxes where each arrow starts and ends."""
    for start_x, start_y, line in re.findall(r'<path d="M(\d+) (\d+)([HV\d]+)"/>', PICTURE):
        end = {"H": int(start_x), "V": int(start_y)}
        end |= {axis: int(number) for axis, number in re.findall(r"([HV])(\d+)", line)}
        ends = box_at(int(start_x), int(start_y)), box_at(end["H"], end["V"])
        if ends != (None, None):  # the legend's arrow
            yield ends


def short(room: str) -> str:
    """A room's name in the picture."""
    return room.removeprefix("smooth_clir.")


def nearest(room: str) -> set[str]:
    """The rooms that a room may import, without those that one of these may import itself."""
    rooms = MAY_IMPORT[room] - {room}
    return rooms - {further for near in rooms for further in MAY_IMPORT[near] - {near}}


def test_every_room_has_a_box_and_every_box_is_a_room() -> None:
    assert sorted(name for name, _, _ in boxes()) == sorted(map(short, MAY_IMPORT))


def test_a_box_tells_a_package_at_the_top_from_one_below_smooth_clir() -> None:
    below = {short(room) for room in MAY_IMPORT if room.startswith("smooth_clir")}
    assert {name for name, kind, _ in boxes() if kind == "below"} == below


def test_the_arrows_are_the_imports_that_no_other_arrow_implies() -> None:
    expected = {(short(room), short(target)) for room in MAY_IMPORT for target in nearest(room)}
    assert {*arrows()} == expected
    assert len([*arrows()]) == len(expected)
