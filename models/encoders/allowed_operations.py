"""The operations that a foreign SavedModel may consist of.

An operation is allowed if its declaration cannot hold a name, or if the table below names it. All other operations are
refused, also new ones of later versions of TensorFlow. An allowed operation can still harm its own process by an
endless loop, a tensor larger than the memory, or a bug in its native code.
"""

import types
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import tensorflow as tf
import tensorflow_text as tf_text
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import op_def_registry

CALLS: Final = frozenset(("PartitionedCall", "StatefulPartitionedCall"))
"""The operations that call a single function with their inputs."""

ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    reason: frozenset(operations.split())
    for reason, operations in {
        "its strings are texts, parts of them, or numbers as texts": """
            AsString CaseFoldUTF8 DecodeBase64 DecodePaddedRaw DecodeRaw EncodeBase64 FastBertNormalize
            FastWordpieceTokenizeWithOffsets PhraseTokenize SentenceFragmentsV2 SparseCrossV2
            SplitMergeTokenizeWithOffsets StringLength StringSplit StringSplitV2 StringStrip StringToHashBucket
            StringToHashBucketFast StringToHashBucketStrong StringToNumber Substr TFText>BoiseTagsToOffsets
            TFText>ByteSplitByOffsets TFText>ByteSplitWithOffsets TFText>FastSentencepieceTokenize
            TFText>OffsetsToBoiseTags TFText>Utf8Binarize TFText>WhitespaceTokenizeWithOffsetsV2 TokenizerFromLogits""",
        "its strings are separators, patterns without backtracking, templates or messages, beside texts": """
            Assert CheckNumerics CheckNumericsV2 PreventGradient ReduceJoin RegexFullMatch RegexReplace
            RegexSplitWithOffsets StaticRegexFullMatch StaticRegexReplace StringFormat StringJoin StringNGrams
            TFText>NgramsStringJoin UnsortedSegmentJoin WordpieceTokenizeWithOffsets""",
        "its strings choose an encoding, an algorithm or an order from a fixed set, beside texts": """
            DataFormatDimMap DataFormatVecPermute DenseToDenseSetOperation DenseToSparseSetOperation DeviceIndex
            Einsum Fingerprint NormalizeUTF8 NormalizeUTF8WithOffsetsMap RaggedCross RaggedTensorToTensor
            SentenceFragments SparseToSparseSetOperation StringLower StringUpper UnicodeDecode
            UnicodeDecodeWithOffsets UnicodeTranscode UniformQuantizedConvolution UniformQuantizedConvolutionHybrid""",
        "its string is the content of a sentencepiece model, and the name of what is made from it": """
            SentencepieceDetokenizeOp SentencepieceIdToStringOp SentencepieceOp SentencepieceStringToIdOp
            SentencepieceTokenizeOp SentencepieceTokenizeWithOffsetsOp SentencepieceVocabSizeOp""",
        "its names are those of variables and tables in memory": """
            AnonymousHashTable AnonymousMutableDenseHashTable AnonymousMutableHashTable
            AnonymousMutableHashTableOfTensors AssignAddVariableOp AssignSubVariableOp AssignVariableOp
            DestroyResourceOp DisableCopyOnRead HashTableV2 InitializeTableV2 LookupTableExportV2 LookupTableFindV2
            LookupTableImportV2 LookupTableInsertV2 LookupTableRemoveV2 LookupTableSizeV2 MutableDenseHashTableV2
            MutableHashTableOfTensorsV2 MutableHashTableV2 ReadVariableOp ResourceGather ResourceGatherNd
            ResourceScatterAdd ResourceScatterNdUpdate ResourceScatterUpdate VarHandleOp VarIsInitializedOp
            VariableShape""",
        "its names are those of the file's own functions, whose operations are looked through, and of loops": """
            Case Enter If PartitionedCall StatefulPartitionedCall StatelessCase StatelessIf StatelessWhile While""",
        "it holds tensors: a list, a ragged or optional tensor, or a map of offsets, which may have a name": """
            EmptyTensorList FindSourceOffsets OptionalFromValue OptionalGetValue OptionalHasValue OptionalNone
            RaggedTensorFromVariant RaggedTensorToVariant RaggedTensorToVariantGradient TensorArrayCloseV3
            TensorArrayConcatV3 TensorArrayGatherV3 TensorArrayReadV3 TensorArrayScatterV3 TensorArraySizeV3
            TensorArraySplitV3 TensorArrayV3 TensorArrayWriteV3 TensorListConcat TensorListConcatLists
            TensorListConcatV2 TensorListElementShape TensorListFromTensor TensorListGather TensorListGetItem
            TensorListLength TensorListPopBack TensorListPushBack TensorListPushBackBatch TensorListReserve
            TensorListResize TensorListScatter TensorListScatterIntoExistingList TensorListScatterV2
            TensorListSetItem TensorListSplit TensorListStack""",
        "it draws numbers, or keeps the state of a kernel": """
            CudnnRNN CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3 CudnnRNNV2 CudnnRNNV3 Empty
            GuaranteeConst Multinomial ParameterizedTruncatedNormal RandomGamma RandomPoissonV2 RandomShuffle
            RandomStandardNormal RandomUniform RandomUniformInt RngReadAndSkip StatelessRandomGetAlg TruncatedNormal""",
    }.items()
}
"""Allowed operations whose declaration can hold a name, by the reason why they are allowed."""

_HANDLES: Final = (types_pb2.DT_RESOURCE, types_pb2.DT_VARIANT)


def is_allowed(operation: str) -> bool:
    """Returns whether an operation belongs to TensorFlow or tensorflow-text and is allowed."""
    if operation.replace(">", "_") not in _known():
        return False
    named = any(operation in operations for operations in ALLOWED.values())
    return named or not can_hold_name(op_def_registry.get(operation))


def can_hold_name(declared: Any) -> bool:
    """Returns whether an operation may name something: a file, an address, a function, a message, a thing in memory.

    Args:
      declared: an `OpDef`.
    """
    return (
        declared.is_stateful
        or any(
            ("string" in attribute.type and not attribute.allowed_values.list.s) or "func" in attribute.type
            for attribute in declared.attr
        )
        or any(argument.type in (types_pb2.DT_STRING, *_HANDLES) for argument in declared.input_arg)
        or any(argument.type in _HANDLES for argument in declared.output_arg)
        or any(argument.is_ref for argument in (*declared.input_arg, *declared.output_arg))
    )


def is_operation(name: str) -> bool:
    """Returns whether this process has an operation of this name."""
    return op_def_registry.get(name) is not None


@cache
def _known() -> frozenset[str]:
    """The operations of TensorFlow and tensorflow-text, with _ for the > after a namespace."""
    libraries = Path(tf_text.__file__).parent.glob("python/**/*.so")
    modules = (tf.raw_ops, *(tf.load_op_library(str(library)) for library in libraries))
    return frozenset(
        name for module in modules for name, value in vars(module).items() if isinstance(value, types.FunctionType)
    )
