"""The ImportSchemaGen component's contract: TFX's own, and a digest of the file."""

from tfx.components.schema_gen.import_schema_gen import executor
from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import channel, component_spec, standard_artifacts, standard_component_specs

DIGEST_KEY = "digest"


class ImportSchemaGenSpec(standard_component_specs.ImportSchemaGenSpec):
    """TFX's specification, and a digest: TFX's cache key holds the file's path alone."""

    PARAMETERS = {
        **standard_component_specs.ImportSchemaGenSpec.PARAMETERS,
        DIGEST_KEY: component_spec.ExecutionParameter(type=str),
    }


class ImportSchemaGen(base_component.BaseComponent):
    """Imports a curated schema.

    Args:
      schema_file: its path.
      digest: SHA-256 of its content.

    Outputs:
      schema: Schema.
    """

    SPEC_CLASS = ImportSchemaGenSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(executor.Executor)

    def __init__(self, schema_file: str, digest: str) -> None:
        schema = channel.OutputChannel(standard_artifacts.Schema, self, standard_component_specs.SCHEMA_KEY)
        super().__init__(ImportSchemaGenSpec(schema_file=schema_file, digest=digest, schema=schema))
