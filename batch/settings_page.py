"""The settings as a page to read: the reference of all, or the values in force."""

from __future__ import annotations

import json
from typing import Any, get_args

import yaml
from pydantic import BaseModel, SecretStr

from batch.settings import Settings, environment_name, items, leaves

_MASK = "********"


def reference() -> str:
    """Describe every setting: name, environment name, type, unit, default and meaning, in Markdown."""
    lines = [
        "# Settings",
        "",
        "A setting comes from, strongest first: option, environment, the YAML file of `--config`, default. In YAML the dots are levels;",
        "lists in an environment variable are written `a,b` or as YAML (`[a, b]`).",
        "",
    ]
    for path, info in leaves():
        lines += _entry(".".join(path), environment_name(path), info)
    for path, model in items():
        lines += [f"## An item of {'.'.join(path)}", ""]
        lines += [line for path, info in leaves(model) for line in _entry(".".join(path), None, info)]
    return "\n".join(lines).rstrip() + "\n"


def effective(settings: Settings) -> str:
    """Give the merged values as YAML that could be a settings file, secrets masked."""
    return yaml.safe_dump(_plain(settings), sort_keys=False, allow_unicode=True, width=120)


def _entry(name: str, variable: str | None, info: Any) -> list[str]:
    unit = (info.json_schema_extra or {}).get("unit")
    facts = [
        _type_name(info.annotation),
        *([unit] if unit else []),
        "required" if info.is_required() else f"default {_shown(info.default)}",
    ]
    return [f"**{name}**" + (f" · `{variable}`" if variable else "") + f" · {', '.join(facts)}", "", info.description, ""]


def _type_name(annotation: Any) -> str:
    if isinstance(annotation, type) and not get_args(annotation):
        return {
            "SecretStr": "secret text",
            "str": "text",
            "int": "whole number",
            "float": "number",
            "AwareDatetime": "time",
            "Path": "path",
            "NoneType": "",
        }.get(annotation.__name__, annotation.__name__)
    origin, arguments = getattr(annotation, "__origin__", None), get_args(annotation)
    if origin is tuple:
        return f"list of {_type_name(arguments[0])}"
    if origin is dict:
        return f"mapping of {_type_name(arguments[0])} to {_type_name(arguments[1])}"
    if all(isinstance(a, str) for a in arguments):
        return " or ".join(arguments)
    return next((name for a in arguments if a is not type(None) and (name := _type_name(a))), "text")


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if value in ((), {}):
        return "empty"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return json.dumps(value) if isinstance(value, (bool, int, float)) else str(value)


def _plain(value: object) -> Any:
    if isinstance(value, BaseModel):
        return {name: _plain(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, SecretStr):
        return _MASK
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value if isinstance(value, (bool, int, float, type(None))) else str(value)
