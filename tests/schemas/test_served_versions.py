"""Which names in a serving folder are versions, and which of them is the newest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.served_versions import newest_version, served_versions

NO_VERSIONS = [
    "²",
    "٣",
    "３",
    "007",
    "00",
    "-9",
    "+9",
    "1_000",
    "1e3",
    "8.bak",
    ".incoming",
    "notes",
    "latest",
    "9\n",
    "",
]

numbers = st.lists(st.integers(0, 10**12), unique=True)
others = st.lists(st.sampled_from(NO_VERSIONS))


@given(numbers, others, st.randoms())
def test_versions_stand_in_the_order_of_their_numbers_and_other_names_are_none(some, others, random):
    names = [*map(str, some), *others]
    random.shuffle(names)
    assert served_versions(names) == [str(number) for number in sorted(some)]


@given(numbers, others)
def test_the_newest_version_has_the_highest_number(some, others):
    assert newest_version([*map(str, some), *others]) == (str(max(some)) if some else None)


@pytest.mark.parametrize("name", NO_VERSIONS)
def test_a_name_that_is_no_plain_number_is_no_version(name):
    assert served_versions([name, f"{name}/"]) == []


def test_a_folder_s_trailing_slash_is_no_part_of_its_number():
    assert served_versions(["10/", "9/"]) == ["9", "10"]
