"""The CollectionGen component's contract."""

from tfx.dsl.components.base import base_beam_component, executor_spec
from tfx.types import channel, component_spec

from components.collection_gen.executor import (
    COLLECTION_KEY,
    DIGESTS_KEY,
    PATHS_KEY,
    TOP_GRADE_KEY,
    WIKICLIR_FILES_KEY,
    Executor,
)
from schemas.artifacts import Collection, WikiClirFiles


class CollectionGenSpec(component_spec.ComponentSpec):
    """Parameters and output of CollectionGen."""

    PARAMETERS = {
        PATHS_KEY: component_spec.ExecutionParameter(type=str),
        DIGESTS_KEY: component_spec.ExecutionParameter(type=str),
        TOP_GRADE_KEY: component_spec.ExecutionParameter(type=int),
    }
    INPUTS = {WIKICLIR_FILES_KEY: component_spec.ChannelParameter(type=WikiClirFiles, optional=True)}
    OUTPUTS = {COLLECTION_KEY: component_spec.ChannelParameter(type=Collection)}


class CollectionGen(base_beam_component.BaseBeamComponent):
    """Reads the input files once, and makes the collection that every later stage reads.

    Args:
      paths: JSON object, role (queries, documents, judgments, perhaps candidates) to the list of its files; with
        `wikiclir_files` to their name, or a pattern of several, in that artifact.
      digests: JSON object, role to what `schemas.input_digest` makes of its files: other bytes are refused.
      top_grade: the MR grade; judgments with a higher one are left out.
      wikiclir_files: WikiClirFiles, of which the files are taken, if they were made of dumps.

    Outputs:
      collection: Collection.
    """

    SPEC_CLASS = CollectionGenSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(
        self, paths: str, digests: str, top_grade: int, wikiclir_files: channel.BaseChannel | None = None
    ) -> None:
        super().__init__(
            CollectionGenSpec(
                **{
                    **({WIKICLIR_FILES_KEY: wikiclir_files} if wikiclir_files else {}),
                    PATHS_KEY: paths,
                    DIGESTS_KEY: digests,
                    TOP_GRADE_KEY: top_grade,
                    COLLECTION_KEY: channel.OutputChannel(Collection, self, COLLECTION_KEY),
                }
            )
        )
