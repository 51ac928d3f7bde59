"""The two messages of TF Serving 2.15 that its configurations are made of and that tensorflow-serving-api lacks.

Their fields are transcribed from `session_bundle_config.proto` and `monitoring_config.proto` of TF Serving's sources,
so that text is refused that names another field, or gives one another type.
"""

from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, wrappers_pb2

_FIELD = descriptor_pb2.FieldDescriptorProto
_INT64 = (_FIELD.TYPE_MESSAGE, ".google.protobuf.Int64Value", False)

_MESSAGES: Final = {
    "BatchingParameters": {
        "max_batch_size": (1, *_INT64),
        "batch_timeout_micros": (2, *_INT64),
        "max_enqueued_batches": (3, *_INT64),
        "num_batch_threads": (4, *_INT64),
        "thread_pool_name": (5, _FIELD.TYPE_MESSAGE, ".google.protobuf.StringValue", False),
        "allowed_batch_sizes": (6, _FIELD.TYPE_INT64, None, True),
        "pad_variable_length_inputs": (7, _FIELD.TYPE_BOOL, None, False),
    },
    "PrometheusConfig": {
        "enable": (1, _FIELD.TYPE_BOOL, None, False),
        "path": (2, _FIELD.TYPE_STRING, None, False),
    },
    "MonitoringConfig": {
        "prometheus_config": (1, _FIELD.TYPE_MESSAGE, ".tensorflow.serving.PrometheusConfig", False),
    },
}
"""Field to number, type, name of the type, and whether it is repeated."""


def new_message(name: str) -> Any:
    """An empty message.

    Args:
      name: BatchingParameters or MonitoringConfig.
    """
    file = descriptor_pb2.FileDescriptorProto(
        name="transcribed.proto",
        package="tensorflow.serving",
        syntax="proto3",
        dependency=[wrappers_pb2.DESCRIPTOR.name],
    )
    for message, fields in _MESSAGES.items():
        described = file.message_type.add(name=message)
        for field, (number, kind, type_name, is_repeated) in fields.items():
            label = _FIELD.LABEL_REPEATED if is_repeated else _FIELD.LABEL_OPTIONAL
            described.field.add(name=field, number=number, type=kind, type_name=type_name, label=label)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(wrappers_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName(f"tensorflow.serving.{name}"))()
