"""The JSON Schema of a configuration, by which editors complete and check it.

.venv/bin/python -m pipeline.config_schema > docs/clir.schema.json
"""

import json
import sys
from pathlib import Path
from typing import Final

from models.tuning.settings import Space
from pipeline.config import RunConfig, SourceSettings
from schemas.json_files import parse_json

SCHEMA_FILE: Final = "clir.schema.json"
_TITLE: Final = "A configuration of Smooth CLIR"


def config_schema() -> str:
    """The schema as the text of a file.

    It knows keys, types, limits and choices. Only `clir run` checks what one key requires of another.
    """
    schema = RunConfig.model_json_schema()
    definitions = schema["$defs"]
    data = definitions[SourceSettings.__name__]
    files = [role for role in ("queries", "documents", "judgments") if role in data["required"]]
    data["required"] = [key for key in data["required"] if key not in files]
    data["anyOf"] = [{"required": files}, {"required": ["wikipedia"]}]  # a first stage makes the files from dumps
    spaces = definitions[Space.__name__]
    definitions[Space.__name__] = {"anyOf": [spaces, {"type": "array", "items": {"type": "number"}, "minItems": 1}]}
    schema |= {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": _TITLE}
    return json.dumps(schema, indent=1) + "\n"


def is_config_schema(path: Path) -> bool:
    """Whether a file is this schema, of any version of the project."""
    if not path.is_file():
        return False  # reading a pipe may never end
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("title") == _TITLE


if __name__ == "__main__":
    sys.stdout.write(config_schema())
