"""Notes on the texts of a made collection of which a run would cut the end."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pipeline.even_sample import EvenSample
from schemas.cut_texts import CutTexts
from schemas.word_rules import WordRules


def cut_notes(files: Mapping[str, Path], rules: WordRules) -> Iterator[str]:
    """Yields a note for each file of whose texts the limit cuts some; many texts are sampled.

    Args:
      files: the texts, in the plural, to their file: id, title and text, tab-separated.
      rules: the words of the texts; the limit is the value of `data.max_document_tokens`.
    """
    for what, path in files.items():
        with open(path, "rb") as lines:
            sample = EvenSample(line.split(b"\t", 2)[-1] for line in lines)
        cut = _cut(sample.items, rules)
        if cut.cut_texts:
            among = "" if sample.is_whole else f"in an even sample of {len(sample.items):,} {what}, "
            note = f"{among}{cut.sentence(what, rules.max_tokens)}"
            yield f"warning: {note}; a higher limit in config.yaml keeps more" if cut.is_much else note


def _cut(texts: Sequence[bytes], rules: WordRules) -> CutTexts:
    # No text has more words than bytes, but for a run of a few ligatures of Arabic phrases, which no text is.
    if max(map(len, texts), default=0) <= rules.max_tokens:
        return CutTexts()
    # Imported late: TensorFlow takes seconds, which collections of short texts need not wait for.
    from models.texts.word_counts import distinct_words

    return distinct_words(texts, rules).cut
