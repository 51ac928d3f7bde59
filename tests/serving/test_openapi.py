"""The OpenAPI description: requests made from it are answered as it says."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smooth_clir.retrieval.folder_engines import FolderEngines
from tests.serving.live_service import LiveService, live_service

pytestmark = pytest.mark.stages

# Wrong data may also be refused for its size: some versions make bodies of megabytes. Whether a filter is right depends
# on the fields of the index.
SETTINGS = """\
[checks.negative_data_rejection]
expected-statuses = ["400", "404", "405", "406", "413", "415", "422"]

[[operations]]
include-path-regex = "^/v1/(search|explain)$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "404", "422", "503"]
"""


@pytest.fixture(scope="module")
def live(searchable: Path, searched: str) -> Iterator[LiveService]:
    with live_service(FolderEngines(str(searchable / "serving"), searched)) as service:
        yield service


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (("--phases", "fuzzing", "-n", "10"), 40),
        pytest.param(("-n", "160"), 1000, marks=pytest.mark.long),
    ],
)
def test_requests_made_from_the_description_are_answered_as_it_says(
    live: LiveService, tmp_path: Path, arguments: tuple[str, ...], count: int
) -> None:
    # Takes above 5 s: schemathesis is a process of its own, and draws requests for each path.
    (tmp_path / "schemathesis.toml").write_text(SETTINGS)
    # Its pytest plugin does not know this version of pytest.
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{live.url}/openapi.json", "--no-color"]
    options = ["--generation-deterministic", *arguments]
    process = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout
    match = re.search(r"(\d+) generated, (\d+) passed", process.stdout)
    assert match, process.stdout
    assert match[1] == match[2] and int(match[1]) >= count
    assert live.client.get("/readyz").status_code == 200
    assert not [event for event in live.events if event["level"] == "error"]


def test_the_description_names_every_path_of_the_service(live: LiveService) -> None:
    paths = live.client.get("/openapi.json").json()["paths"]
    assert {path: sorted(methods) for path, methods in paths.items()} == {
        "/v1/search": ["get", "post"],
        "/v1/rank": ["post"],
        "/v1/explain": ["get", "post"],
        "/v1/collection": ["get"],
        "/healthz": ["get"],
        "/readyz": ["get"],
        "/metrics": ["get"],
    }
