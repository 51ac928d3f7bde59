"""How a text becomes words: the same graph in Transform, in the exported model and in the lexical baseline."""

import tensorflow as tf
import tensorflow_text as tf_text

# Scripts written without spaces: each character, with the marks that belong to it, is a word. U+30FC prolongs a kana.
_UNSPACED = r"([\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}][\p{M}\x{30FC}]*)"
# Punctuation, symbols and controls part words and are none themselves.
_SEPARATORS = r"[\p{P}\p{S}\p{C}]+"


def tokenize(texts: tf.Tensor, max_tokens: int | None = None) -> tf.RaggedTensor:
    """Splits texts into normalised words.

    NFKC, case folding, punctuation dropped, split at white space and where the script changes (letters from digits
    too); scripts written without spaces are split by character.

    Args:
      texts: string [batch], UTF-8.
      max_tokens: keep only so many words of each text; None keeps all.

    Returns:
      string RaggedTensor [batch, (tokens)].

    Example:
      >>> [word.decode() for word in tokenize(tf.constant(["L'Été 2020: 北京"]))[0].numpy()]
      ['l', 'été', '2020', '北', '京']
    """
    # Folding may leave a text that is not NFKC any more; the order follows Unicode's toNFKC_Casefold.
    texts = tf_text.normalize_utf8(tf_text.case_fold_utf8(tf_text.normalize_utf8(texts, "NFKC")), "NFKC")
    texts = tf.strings.regex_replace(texts, _UNSPACED, r" \1 ")
    texts = tf.strings.regex_replace(texts, _SEPARATORS, " ")
    words = tf_text.UnicodeScriptTokenizer().tokenize(texts)
    return words if max_tokens is None else words[:, :max_tokens]
