"""Opening files: local ones as Python does, others by TensorFlow."""

from pathlib import Path

import pytest

from schemas.file_system import open_file


@pytest.mark.parametrize("folder", ["", pytest.param("ram://file_system/", marks=pytest.mark.tensors)])
def test_texts_are_in_utf8_and_a_missing_file_is_the_same_error_everywhere(folder: str, tmp_path: Path) -> None:
    path = f"{folder or tmp_path}/file"
    with pytest.raises(FileNotFoundError, match="file"):
        open_file(path)
    with open_file(path, "w") as file:
        file.write("été\n")
    with open_file(path, "rb") as file:
        assert file.read() == "été\n".encode()
    with open_file(path) as file:
        assert [*file] == ["été\n"]
