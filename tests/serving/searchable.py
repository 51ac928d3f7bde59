"""A small model and the index of a few documents, in the folders of a run."""

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from models.encoders.encoder_channel import EncoderChannel
from models.evaluation.relevance_shares import RelevanceShares
from models.exported.export import ExportedEncoder, export_ranker
from models.exported.model import LoadedModel
from models.exported.versions import model_fingerprint
from models.lexicon.learn_lexicon import learn_lexicon
from models.lists.feedback import FIRST_PASS, Feedback
from models.rankers.ranker import Ranker
from schemas.index_manifest import SEGMENTS
from schemas.served_versions import EXAMPLES_FILE
from schemas.wikiclir import Text
from schemas.word_rules import WordRules
from smooth_clir.retrieval.assemble_index import assemble_index
from smooth_clir.retrieval.segment import encode_documents
from tests.models.encoders.small_encoder import IN_GRAPH, HashedWords, record_of
from tests.models.lexicon.small_lexicon import make_channel
from tests.models.made_once import made_once
from tests.models.small_lexicon import PAIRS
from tests.models.small_model import features_of, small_text_features, small_towers

ATTACK: Final = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"
ARABIC: Final = "القط الأبيض chat blanc"
DOCUMENTS: Final = (
    Text("d1", "Chat", "un chat blanc dort", 1),
    Text("d2", "Chien", "un chien blanc court dans la neige " * 30, 2),
    Text("d3", ATTACK, f"chat {ATTACK} chat noir", 3),
    Text("d4", "قط", ARABIC, 4),
    Text("d5", "Ararat", "lune sur ararat", 5),
)
THETA: Final = (0.05, 0.5)
SHARES: Final = RelevanceShares(
    score=(0.0, 1.0), share=(0.0, 1.0), no_answer_below=0.125, least_known_share=0.75, error_rate=0.05, queries=100
)
"""A score in [0, 1] is its own share."""
LIMIT: Final = 200
EXAMPLES: Final = ("white cat", "moon over ararat", "a query that is longer than the sixty characters of a small limit")


FOREIGN: Final = (
    Text("f1", "", "البركان جبل تخرج منه الحمم chat", 1),
    Text("f2", "", "الذئب يعيش في قطيع وينام في الغابة chat", 2),
)
"""Documents whose words the model does not know, but one."""


def export_searchable(
    path: Path, weight: float = 0.5, has_encoder: bool = False, feedback: Feedback = FIRST_PASS
) -> None:
    """Writes an untrained model of `DOCUMENTS` with vectors, words that match, thresholds, and shares of relevant
    documents; and with a pre-trained encoder in its graph."""
    made_once(_export, path, weight, has_encoder, feedback)


def _export(path: Path, weight: float, has_encoder: bool, feedback: Feedback) -> None:
    with tempfile.TemporaryDirectory() as folder:  # not beside the model, where only versions may lie
        text_features = small_text_features(Path(folder))
        texts = [document.text for document in DOCUMENTS]
        channel = make_channel(learn_lexicon("lexicon", ("en", "fr"), WordRules(max_tokens=LIMIT), PAIRS, texts))
        towers = small_towers(initial_scale=1.0)
        towers(features_of(text_features, ["cat"], [["chat"]]))
        channels, weights = {"smooth_cosine": towers, "lexicon": channel}, {"smooth_cosine": 1.0, "lexicon": weight}
        encoder = ExportedEncoder(record_of(IN_GRAPH), HashedWords()) if has_encoder else None
        if has_encoder:
            channels, weights = (
                channels | {"encoder": EncoderChannel(0.2, 0.5, name="encoder")},
                weights | {"encoder": 0.3},
            )
        export_ranker(Ranker(channels, weights), text_features, str(path), THETA, encoder, SHARES, feedback)
    (path / EXAMPLES_FILE).parent.mkdir(exist_ok=True)
    (path / EXAMPLES_FILE).write_text(json.dumps(EXAMPLES))


def index_documents(model: Path, folder: Path, documents: Sequence[Text] = DOCUMENTS) -> None:
    """Writes an index, which appears whole."""
    staging = folder.parent / ".incoming"
    os.makedirs(staging / SEGMENTS)
    loaded = LoadedModel(str(model))
    records = list(encode_documents(loaded, documents, str(staging / SEGMENTS), 0))
    fingerprint = model_fingerprint(str(model))
    assemble_index(str(staging), fingerprint, records, len(records), statistics=loaded.statistics())
    staging.rename(folder)
