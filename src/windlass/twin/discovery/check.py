"""Whether a body or a query is what a discovery document says it is; every finding, not the first.

Must not know which fields are required: the documents do not say so for bodies.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windlass.twin.discovery.api import Api
from windlass.twin.discovery.formats import FORMATS, is_decimal, is_real, is_whole
from windlass.twin.discovery.model import Match, Method, Parameter

# Parameters that every method takes though no document lists them all.
STANDARD = frozenset(
    """$.xgafv $alt $apiVersion $callback $ct $fields $key $outputDefaults $prettyPrint $req
    $unique $userProject access_token alt bearer_token callback ct fields gdata key oauth_token pp
    prettyPrint quotaUser requestReason returnPartialSuccess trace upload_id upload_protocol
    uploadType userIp userProject""".split()
)
_CAPITAL = re.compile(r"(?<=[a-z0-9])[A-Z]")
_BOOLEANS = frozenset({"true", "false", "1", "0"})
# What protocol buffers call the types, in the words of Google's refusals.
_TYPES = {
    "boolean": "TYPE_BOOL",
    "string": "TYPE_STRING",
    "number": "TYPE_DOUBLE",
    "int32": "TYPE_INT32",
    "uint32": "TYPE_UINT32",
    "int64": "TYPE_INT64",
    "uint64": "TYPE_UINT64",
    "byte": "TYPE_BYTES",
    "float": "TYPE_FLOAT",
    "double": "TYPE_DOUBLE",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong."""

    path: str
    """`$.disks[0].boot`; in a query the parameter's name."""
    message: str
    description: str = ""
    """In Google's words, for the answer."""


def check(api: Api, schema: str, value: Any, *, answer: bool = False) -> list[Finding]:
    """What is wrong with a body.

    A request may say numbers in either form, as Google takes them; an answer has the one form
    that Google sends, because clients decode it strictly.
    """
    checking = _Checking(api, answer)
    checking.value({"$ref": schema}, value, "$")
    return checking.findings


def check_query(method: Method, query: Mapping[str, str]) -> list[Finding]:
    """What is wrong with a query: unknown parameters, wrong values, required ones that lack."""
    findings = []
    for name, text in query.items():
        parameter = method.parameters.get(name)
        if parameter is not None and parameter.location == "query":
            findings += _check_text(name, parameter, text)
        elif name not in STANDARD:
            findings.append(_unbound(name))
    for name, parameter in method.parameters.items():
        if parameter.required and parameter.location == "query" and name not in query:
            message = f"Required parameter: {name}"
            findings.append(Finding(name, "required, but missing", message))
    return findings


def check_params(match: Match) -> list[Finding]:
    """What is wrong with the variables of a path, such as a name with capitals in it."""
    findings = []
    for name, text in match.params.items():
        parameter = match.method.parameters.get(name)
        if parameter is not None:
            findings += _check_text(name, parameter, text)
    return findings


class _Checking:
    """One body being checked."""

    def __init__(self, api: Api, answer: bool) -> None:
        self.findings: list[Finding] = []
        self._schemas = api.schemas
        self._answer = answer
        self._kinds = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "boolean": self._boolean,
            "integer": self._integer,
            "number": self._number,
        }

    def value(self, schema: Mapping[str, Any], value: Any, path: str) -> None:
        # Null is the same as no value.
        if value is None:
            return
        reference = schema.get("$ref")
        if reference is not None:
            schema = self._schemas[reference]
        kind = self._kinds.get(schema["type"])
        if kind is not None:
            kind(schema, value, path)

    def _object(self, schema: Mapping[str, Any], value: Any, path: str) -> None:
        if not isinstance(value, dict):
            self._mistyped("object", "", value, path)
            return
        if schema.get("format") == "google.protobuf.Any":
            return
        fields, others = schema.get("properties", {}), schema.get("additionalProperties")
        for name, inner in value.items():
            field = fields.get(name, others)
            if field is None:
                self.findings.append(_unknown(path, name))
            else:
                self.value(field, inner, f"{path}.{name}")

    def _array(self, schema: Mapping[str, Any], value: Any, path: str) -> None:
        if not isinstance(value, list):
            self._mistyped("array", "", value, path)
            return
        for number, inner in enumerate(value):
            self.value(schema["items"], inner, f"{path}[{number}]")

    def _string(self, schema: Mapping[str, Any], value: Any, path: str) -> None:
        form = schema.get("format", "")
        if not isinstance(value, str):
            is_number = form in ("int64", "uint64") and not self._answer and is_whole(value, form)
            if not is_number:
                self._mistyped("string", form, value, path)
            return
        wrong = _wrong_text(schema, value)
        # Google takes bytes without their padding; clients do not.
        if not wrong and form == "byte" and self._answer and len(value) % 4:
            wrong = f"padded base64 expected, got {value!r}"
        if wrong and "pattern" in schema:
            where = path.replace("$", "resource", 1)
            self.findings.append(Finding(path, wrong, _unmatched(where, value, schema["pattern"])))
        elif wrong:
            self._wrong(wrong, _TYPES.get(form, "TYPE_STRING"), value, path)

    def _boolean(self, schema: Mapping[str, Any], value: Any, path: str) -> None:
        if not isinstance(value, bool):
            self._mistyped("boolean", "", value, path)

    def _integer(self, schema: Mapping[str, Any], value: Any, path: str) -> None:
        form = schema.get("format", "int32")
        is_text = isinstance(value, str) and not self._answer and is_decimal(value, form)
        if not (is_text or is_whole(value, form)):
            self._mistyped("integer", form, value, path)

    def _number(self, schema: Mapping[str, Any], value: Any, path: str) -> None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number or (isinstance(value, str) and is_real(value))):
            self._mistyped("number", schema.get("format", ""), value, path)

    def _mistyped(self, kind: str, form: str, value: Any, path: str) -> None:
        if kind in ("object", "array"):
            where = _where(path)
            message = f"{kind} expected, got {value!r}"
            what = "Cannot start list" if isinstance(value, list) else "Cannot bind"
            text = f'Invalid JSON payload received. Unknown name "{where}": {what}.'
            self.findings.append(Finding(path, message, text))
        else:
            self._wrong(
                f"{kind} expected, got {value!r}", _TYPES.get(form or kind, ""), value, path
            )

    def _wrong(self, message: str, kind: str, value: Any, path: str) -> None:
        said = f'"{value}"' if isinstance(value, str) else _json(value)
        text = f"Invalid value at '{_where(path)}' ({kind}), {said}"
        self.findings.append(Finding(path, message, text))


def _check_text(name: str, parameter: Parameter, text: str) -> list[Finding]:
    wrong = ""
    if parameter.type == "boolean":
        wrong = "" if text.lower() in _BOOLEANS else f"boolean expected, got {text!r}"
    elif parameter.type == "integer":
        is_number = is_decimal(text, parameter.format)
        wrong = "" if is_number else f"integer expected, got {text!r}"
    elif parameter.type == "number":
        wrong = "" if is_real(text) else f"number expected, got {text!r}"
    # Clients generated from protocol buffers say enums by number.
    elif not (parameter.enum and text.isdecimal()):
        of = {"enum": parameter.enum, "format": parameter.format, "pattern": parameter.pattern}
        wrong = _wrong_text(of, text)
    return [Finding(name, wrong, _unmatched(name, text, parameter.pattern))] if wrong else []


def _unmatched(where: str, text: str, pattern: str) -> str:
    rule = f" Must be a match of regex '{pattern}'" if pattern else ""
    return f"Invalid value for field '{where}': '{text}'.{rule}"


def _wrong_text(schema: Mapping[str, Any], text: str) -> str:
    """What is wrong with a string; empty where nothing is."""
    choices = schema.get("enum")
    if choices:
        return "" if text in choices else f"{text!r} not in enum ({len(choices)} values)"
    form = FORMATS.get(schema.get("format", ""))
    if form is not None and not form[1](text):
        return f"{form[0]} expected, got {text!r}"
    pattern = schema.get("pattern")
    if pattern and not _compiled(pattern).fullmatch(text):
        return f"{text!r} does not match {pattern}"
    return ""


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _unknown(path: str, name: str) -> Finding:
    at = f" at '{_where(path)}'" if path != "$" else ""
    text = f'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.'
    return Finding(f"{path}.{name}", "unknown field", text)


def _unbound(name: str) -> Finding:
    text = (
        f'Invalid JSON payload received. Unknown name "{name}": Cannot bind query parameter. '
        f"Field '{name}' could not be found in request message."
    )
    return Finding(name, "unknown parameter", text)


def _where(path: str) -> str:
    """A place as Google's parser names it: with the names of protocol buffers."""
    plain = path.removeprefix("$").removeprefix(".")
    return _CAPITAL.sub(lambda found: f"_{found[0].lower()}", plain)


def _json(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
