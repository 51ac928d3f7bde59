"""Settings of Transform. Importing this file does not import TensorFlow."""

from models.settings import WordTableSource
from schemas.settings import Settings
from schemas.word_rules import WordRules


class TransformSettings(Settings):
    """The settings that decide Transform's vocabularies; TFX hands them to `preprocessing_fn` as `custom_config`."""

    vocabulary_size: int
    """Number of words kept per language."""
    rules: WordRules
    """The words of texts."""
    word_tables: dict[str, WordTableSource] = {}
    """Pre-trained word vectors, by vocabulary."""
    stem_languages: dict[str, str] = {}
    """Language of each vocabulary of stems; empty if the model has no stems."""
    held_out: tuple[str, ...] = ()
    """Domains whose lists do not count in the vocabularies."""
    joint_stems: bool = False
    """Whether both languages share a vocabulary of stems: a query's name is then known even if it occurs only in
    documents."""
