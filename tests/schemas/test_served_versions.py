"""Which names in a serving folder are versions, and which of them is the newest."""

from hypothesis import given
from hypothesis import strategies as st

from schemas.served_versions import newest_version, served_versions

NO_VERSIONS = "²|٣|３|007|00|-9|+9|1_000|1e3|8.bak|.incoming|notes|latest|9\n|".split("|")


@given(st.lists(st.integers(0, 10**12), unique=True), st.randoms(), st.sampled_from(["", "/"]))
def test_versions_are_the_names_that_are_plain_numbers_in_their_order(numbers, random, slash):
    names = [f"{name}{slash}" for name in (*numbers, *NO_VERSIONS)]
    random.shuffle(names)
    assert served_versions(names) == [str(number) for number in sorted(numbers)]
    assert newest_version(names) == (str(max(numbers)) if numbers else None)
