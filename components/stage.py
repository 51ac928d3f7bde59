"""Declares a stage by one typed function, from which TFX's component, specification and executor follow.

    @stage
    def LexicalBaseline(
        examples: Input[Examples], collection: Input[Collection], run: Output[RankingRun], apply: Apply, max_tokens: int
    ) -> None:
        ...

    baseline = LexicalBaseline(examples=..., collection=..., max_tokens=100)  # in create_pipeline: a component
    Evaluator(bm25_run=baseline.outputs["run"], ...)

A parameter's type says what it is:

| type | in the pipeline | the function gets |
|---|---|---|
| `Input[A]`, `Input[A] | None = None` | a channel of artifacts of type A | the artifact |
| `Output[A]` | `component.outputs[name]` | the artifact, whose folder exists |
| `str`, `int`, `float`, perhaps with a default or `| None = None` | an execution property | the value |
| another type that Pydantic knows: settings, dataclass, dict, list | an execution property, as JSON | the object |
| `Apply` | nothing | `map`, or the same on the workers of the Beam runner |
| `MakePipeline` | nothing | a function that makes a Beam pipeline on the runner |
| `Identity` | nothing | the digest of the stage's code, see `pipeline.identity` |

TFX's own `@component` is experimental, has no typed settings, and makes a Beam pipeline in every call.
"""

import inspect
import os
import sys
import types
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Annotated, Any, Final, NamedTuple, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import apache_beam as beam
from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from tfx.dsl.components.base import base_beam_component, base_beam_executor, base_component, base_executor
from tfx.dsl.components.base.executor_spec import BeamExecutorSpec, ExecutorClassSpec
from tfx.types import artifact_utils
from tfx.types.artifact import Artifact
from tfx.types.channel import OutputChannel
from tfx.types.component_spec import ChannelParameter, ComponentSpec, ExecutionParameter

import components.beam_runner  # noqa: F401 - pipelines are made here
from components.on_workers import OnWorkers, has_workers, make_pipeline
from schemas import apply

IDENTITY: Final = "identity"
"""The execution property that `pipeline.identity` adds to every node."""


class _Role(Enum):
    """The kind of a parameter of a stage's function."""

    INPUT = auto()
    OUTPUT = auto()
    APPLY = auto()
    MAKE_PIPELINE = auto()
    IDENTITY = auto()
    PARAMETER = auto()


_A = TypeVar("_A")
Input = Annotated[_A, _Role.INPUT]
Output = Annotated[_A, _Role.OUTPUT]
Apply: TypeAlias = Annotated[apply.Apply, _Role.APPLY]
MakePipeline: TypeAlias = Annotated[Callable[[], beam.Pipeline], _Role.MAKE_PIPELINE]
Identity: TypeAlias = Annotated[str, _Role.IDENTITY]

_PLAIN: Final = (str, int, float)
"""The types of execution properties that TFX stores as they are."""


class _Parameter(NamedTuple):
    """A parameter of a stage's function.

    Attributes:
      type: the type without `None`, and without the role of an artifact.
      json: converts from and to an execution property's JSON, if the type is not plain.
    """

    role: _Role
    type: Any
    is_optional: bool
    default: Any
    json: TypeAdapter[Any] | None

    def to_property(self, value: Any) -> Any:
        if self.json is None or value is None:
            return value
        return self.json.dump_json(self.json.validate_python(value)).decode()

    def from_property(self, value: Any) -> Any:
        return value if self.json is None or value is None else self.json.validate_json(value)


def stage(function: Callable[..., None]) -> Any:
    """Makes a component class from a function, with the function's name and docstring.

    TFX finds the executor class by its path, so the class is put into the function's module, as the function's name
    followed by `Executor`. As in TFX's own functional components, `test_call` is the function itself.

    Raises:
      TypeError: the signature cannot be a stage's; the message names the parameter.
    """
    name = function.__name__
    parameters = _parameters(function)

    def with_role(*roles: _Role) -> dict[str, _Parameter]:
        return {key: parameter for key, parameter in parameters.items() if parameter.role in roles}

    inputs, outputs, properties = with_role(_Role.INPUT), with_role(_Role.OUTPUT), with_role(_Role.PARAMETER)
    if not outputs:
        raise TypeError(f"{name} must have an output: a parameter of type Output[...].")
    uses_beam = bool(with_role(_Role.APPLY, _Role.MAKE_PIPELINE))
    component: Any = base_beam_component.BaseBeamComponent if uses_beam else base_component.BaseComponent

    def do(executor: Any, input_dict: Any, output_dict: Any, exec_properties: Any) -> None:
        def argument(key: str, parameter: _Parameter) -> Any:
            match parameter.role:
                case _Role.INPUT:
                    return artifact_utils.get_single_instance(input_dict[key]) if input_dict.get(key) else None
                case _Role.OUTPUT:
                    return artifact_utils.get_single_instance(output_dict[key])
                case _Role.APPLY if has_workers(executor):
                    folder = artifact_utils.get_single_uri(output_dict[next(iter(outputs))])
                    return OnWorkers(make_pipeline(executor), os.path.join(folder, ".work"))
                case _Role.APPLY:
                    return map  # the same as Beam's in-process runner gives, without its half second
                case _Role.MAKE_PIPELINE:
                    return make_pipeline(executor)
                case _Role.IDENTITY:
                    return exec_properties[IDENTITY]
            return parameter.from_property(exec_properties.get(key))

        function(**{key: argument(key, parameter) for key, parameter in parameters.items()})

    def init(self: Any, **arguments: Any) -> None:
        if unknown := arguments.keys() - inputs.keys() - properties.keys():
            raise TypeError(f"{name} takes {', '.join((*inputs, *properties))}; got {', '.join(sorted(unknown))}.")
        values = {key: parameter.default for key, parameter in properties.items() if parameter.default is not None}
        values |= {key: value for key, value in arguments.items() if value is not None}
        stored = {key: parameters[key].to_property(value) for key, value in values.items()}
        made = {key: OutputChannel(parameter.type, self, key) for key, parameter in outputs.items()}
        component.__init__(self, self.SPEC_CLASS(**stored, **made))

    common = {"__module__": function.__module__, "__doc__": function.__doc__}
    executor_base = base_beam_executor.BaseBeamExecutor if uses_beam else base_executor.BaseExecutor
    executor = type(f"{name}Executor", (executor_base,), {**common, "Do": do})
    setattr(sys.modules[function.__module__], executor.__name__, executor)
    channels = {
        key: ChannelParameter(type=parameter.type, optional=parameter.is_optional) for key, parameter in inputs.items()
    }
    spec = {
        "INPUTS": channels,
        "OUTPUTS": {key: ChannelParameter(type=parameter.type) for key, parameter in outputs.items()},
        "PARAMETERS": {
            key: ExecutionParameter(type=str if parameter.json else parameter.type, optional=parameter.is_optional)
            for key, parameter in properties.items()
        },
    }
    return type(
        name,
        (component,),
        {
            **common,
            "SPEC_CLASS": type(f"{name}Spec", (ComponentSpec,), {**common, **spec}),
            "EXECUTOR_SPEC": (BeamExecutorSpec if uses_beam else ExecutorClassSpec)(executor),
            "__init__": init,
            "test_call": staticmethod(function),
        },
    )


def _parameters(function: Callable[..., None]) -> Mapping[str, _Parameter]:
    """Returns the parameters of a stage's function by their names."""
    hints = get_type_hints(function, include_extras=True)
    parameters = {}
    for key, parameter in inspect.signature(function).parameters.items():
        where = f"{function.__name__}({key})"
        if key not in hints or parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise TypeError(f"{where} must be a parameter with a type of its own; got {parameter}.")
        parameters[key] = _parameter(where, hints[key], parameter.default)
    return parameters


def _parameter(where: str, hint: Any, default: Any) -> _Parameter:
    """Reads one parameter's type and default; messages begin with the stage and the parameter."""
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    is_optional = type(None) in kinds
    kind: Any = Union[tuple(choice for choice in kinds if choice is not type(None))]  # noqa: UP007
    role = next((mark for mark in getattr(kind, "__metadata__", ()) if isinstance(mark, _Role)), _Role.PARAMETER)
    has_default = default is not inspect.Parameter.empty
    if is_optional and default is not None:
        raise TypeError(f"{where} may be None, so its default must be None.")
    if role is not _Role.PARAMETER:
        if role is not _Role.INPUT and (has_default or is_optional):
            raise TypeError(f"{where} must have neither a default nor None among its types.")
        kind = get_args(kind)[0]
    is_artifact = inspect.isclass(kind) and issubclass(kind, Artifact)
    if role in (_Role.INPUT, _Role.OUTPUT) and not (is_artifact and kind.TYPE_NAME):
        raise TypeError(f"{where} must name a type of artifacts; got {kind!r}.")
    if role is _Role.PARAMETER and is_artifact:
        raise TypeError(f"{where} must be Input[{kind.__name__}] or Output[{kind.__name__}]; got {kind.__name__}.")
    adapter: TypeAdapter[Any] | None = None
    if role is _Role.PARAMETER and kind not in _PLAIN:
        try:
            adapter = TypeAdapter(kind)
        except PydanticUserError as error:
            raise TypeError(f"{where} must have a type that can be stored as JSON; got {kind!r}: {error}") from None
    return _Parameter(role, kind, is_optional, default if has_default else None, adapter)
