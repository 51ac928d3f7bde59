"""The client and the numbers of terms of an index in Milvus; no server is needed."""

import logging
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.retrieval.milvus_index import NO_TERM, Milvus, import_client, sparse_terms, term_number
from models.retrieval.milvus_settings import MilvusAddress
from schemas.errors import DataError

pytestmark = pytest.mark.tensors


@given(term=st.binary(max_size=20))
def test_no_term_has_the_number_of_documents_without_terms(term: bytes) -> None:
    assert 0 <= term_number(term) < NO_TERM < (1 << 32) - 1


def test_terms_that_share_a_number_add_up_and_what_weighs_nothing_is_left_out() -> None:
    terms = sparse_terms([b"chat", b"", b"chat", b"lune"], np.array([0.5, 1.0, 0.25, 0.0], np.float32))
    assert terms == {term_number(b"chat"): 0.75}


def test_without_the_client_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    with pytest.raises(DataError, match=r"pip install 'smooth-clir\[milvus\]'"):
        Milvus(MilvusAddress.parse("milvus://localhost/name"))


def test_the_client_leaves_the_handlers_of_this_process_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pymilvus"]:
        monkeypatch.delitem(sys.modules, name)  # its import sets the logging up
    handler = logging.FileHandler(tmp_path / "log", "w")
    logging.getLogger().addHandler(handler)
    try:
        import_client()
        logging.getLogger("pymilvus.client").error("a")
        logging.warning("still open")
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
    assert (tmp_path / "log").read_text() == "still open\n"
