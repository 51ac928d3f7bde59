"""How a text becomes words: the same graph in Transform, in the exported model and in the lexical baseline."""

import tensorflow as tf
import tensorflow_text as tf_text

from models.graph_function import graph_function

# Scripts written without spaces: each character, with the marks that belong to it, is a word (U+30FC prolongs a kana).
# A run of digits is a word of its own, too.
_WORD = r"(\p{N}+|[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}][\p{M}\x{30FC}]*)"
# Punctuation, symbols, controls and white space part words and are none themselves. Spaces need no replacing by spaces:
# as one range (of \p{Z}, all but U+0020) this is twice as fast as with \p{Z}.
_SEPARATORS = r"[\p{P}\p{S}\p{C}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}]+"


@graph_function
def tokenize(texts: tf.Tensor, max_tokens: int | None = None) -> tf.RaggedTensor:
    """Splits texts into normalised words.

    NFKC, case folding, punctuation dropped, split at white space and between letters and digits; scripts written
    without spaces are split by character.

    Args:
      texts: string [batch], UTF-8.
      max_tokens: keep only so many words of each text; None keeps all.

    Returns:
      string RaggedTensor [batch, (tokens)].

    Example:
      >>> [word.decode() for word in tokenize(tf.constant(["L'Été 2020: 北京"]))[0].numpy()]
      ['l', 'été', '2020', '北', '京']
    """
    # Folding may leave a text that is not NFKC any more.
    texts = tf_text.normalize_utf8(tf_text.case_fold_utf8(tf_text.normalize_utf8(texts, "NFKC")), "NFKC")
    texts = tf.strings.regex_replace(tf.strings.regex_replace(texts, _SEPARATORS, " "), _WORD, r" \1 ")
    # Not tf-text's UnicodeScriptTokenizer, which would do the same after these two: its graph is 35 times as large.
    words = tf.strings.split(texts)
    return words if max_tokens is None else words[:, :max_tokens]
