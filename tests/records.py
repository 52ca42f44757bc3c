"""Whether what clients asked of a twin, and what it answered, is as Google's documents say.

Checks a record of `windlass twin up --record` with jsonschema against the full discovery documents
of google-api-python-client; where that is not installed, against those that the twin ships. Must
not use the twin's own checks: a mistake there is to be found here.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import jsonschema

from windlass.twin.discovery import documents

# Parameters of Google's front end that no document lists, and those of uploads' sessions.
FRONT_END = frozenset({"$alt", "alt", "uploadType", "upload_id", "prettyPrint", "key", "fields"})
# What the recorder writes in the place of a secret.
HIDDEN = "[not recorded]"
SESSION = ("PUT", "DELETE")
INT_ENUMS = "enum-encoding=int"
TEXT_FORMATS = {
    "int64": r"^-?[0-9]+$",
    "uint64": r"^[0-9]+$",
    "byte": r"^([A-Za-z0-9+/_-]{4})*([A-Za-z0-9+/_-]{2}==|[A-Za-z0-9+/_-]{3}=)?$",
    "date": r"^\d{4}-\d\d-\d\d$",
    "date-time": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$",
    "google-datetime": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$",
    "google-duration": r"^-?\d+(\.\d{1,9})?s$",
}
INTEGERS = {"int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1)}


def findings(path: Path, *, only: str = "") -> Counter[str]:
    """Everything that is wrong in a record, and how often; or only what begins like this."""
    found: Counter[str] = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        call = json.loads(line)
        for what in check(call):
            if what.startswith(only):
                found[f"{call['id'] or call['method'] + ' ' + call['path']}: {what}"] += 1
    return found


def check(call: dict[str, Any]) -> Iterator[str]:
    """What is wrong with one call and its answer."""
    if not call["id"]:
        if not is_undocumented(call):
            yield f"no method of Google's is at this path ({call['host']})"
        return
    document = _document(call)
    method = document.methods.get(call["id"])
    if method is None:
        yield "Google's document has no such method"
        return
    yield from _check_place(call, document, method)
    yield from _check_query(call, document, method)
    yield from _check_body(call, document, method)
    yield from _check_answer(call, document, method)


def is_undocumented(call: dict[str, Any]) -> bool:
    """Whether it is for a part of Google that has no document (XML), or for the twin itself."""
    if call["path"].startswith("/twin/v1/"):
        return True
    is_json = re.match(r"/(?:(?:resumable/)?upload/|download/)?storage/v1/", call["path"])
    is_storage = call["host"].endswith("storage.googleapis.com")
    return not is_json and (is_storage or call["host"] in ("127.0.0.1", "localhost"))


# ---- documents -----------------------------------------------------------------------------------


class Document:
    """A version of an API: its methods, and validators of its schemas."""

    def __init__(self, source: dict[str, Any]) -> None:
        self.parameters = source["parameters"]
        self.service_path = source["servicePath"]
        self.methods: dict[str, dict[str, Any]] = dict(_methods(source))
        self._schemas = source["schemas"]
        self._kept: dict[tuple[str, bool], jsonschema.Draft202012Validator] = {}

    @functools.cache  # noqa: B019 - documents live as long as the tests.
    def _definitions(self, numbers: bool) -> dict[str, Any]:
        return {name: _schema(one, numbers=numbers) for name, one in self._schemas.items()}

    def errors(self, schema: str, value: Any, *, numbers: bool) -> Iterator[str]:
        """What is wrong with a body; with `numbers` its enums are numbers."""
        validator = self._kept.get((schema, numbers))
        if validator is None:
            whole = {"$ref": f"#/$defs/{schema}", "$defs": self._definitions(numbers)}
            validator = self._kept[schema, numbers] = jsonschema.Draft202012Validator(whole)
        for error in validator.iter_errors(value):
            if error.instance != HIDDEN:
                place = re.sub(r"\[\d+\]", "[]", error.json_path)
                yield f"{place}: {error.message[:200]}"


def _document(call: dict[str, Any]) -> Document:
    api = call["id"].partition(".")[0]
    versions = documents.available()[api]
    words = call["path"].split("/")
    return load(api, next(word for word in words if word in versions))


@functools.cache
def load(api: str, version: str) -> Document:
    """The full document where it is installed, else the one that the twin ships."""
    full = full_documents()
    path = full / f"{api}.{version}.json" if full else None
    if path is not None and path.exists():
        return Document(json.loads(path.read_bytes()))
    return Document(documents.document(f"{api}.{version}"))


def full_documents() -> Path | None:
    """Where google-api-python-client keeps them; None where it is not installed."""
    spec = importlib.util.find_spec("googleapiclient")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "discovery_cache" / "documents"


def _methods(level: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, method in level.get("methods", {}).items():
        yield method.get("id", key), method
    for resource in level.get("resources", {}).values():
        yield from _methods(resource)


def _reference(side: Any) -> str:
    """The schema of a method's body, in a full document or in one that the twin ships."""
    return side.get("$ref", "") if isinstance(side, dict) else side or ""


def _schema(source: dict[str, Any], *, numbers: bool) -> dict[str, Any]:
    """The same as a JSON schema."""
    if "$ref" in source:
        return {"$ref": f"#/$defs/{source['$ref']}"}
    kind = source.get("type", "any")
    if kind == "object":
        return _object(source, numbers=numbers)
    if kind == "array":
        return {"type": "array", "items": _schema(source["items"], numbers=numbers)}
    if kind == "string":
        return _text(source, numbers=numbers)
    if kind == "integer":
        least, most = INTEGERS[source.get("format", "int32")]
        return {"type": "integer", "minimum": least, "maximum": most}
    if kind == "number":
        return {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
    return {} if kind == "any" else {"type": kind}


def _object(source: dict[str, Any], *, numbers: bool) -> dict[str, Any]:
    inner = source.get("properties", {})
    others = source.get("additionalProperties")
    return {
        "type": "object",
        "properties": {name: _schema(one, numbers=numbers) for name, one in inner.items()},
        "additionalProperties": False if others is None else _schema(others, numbers=numbers),
    }


def _text(source: dict[str, Any], *, numbers: bool) -> dict[str, Any]:
    if "enum" in source:
        names = {"enum": source["enum"]}
        return {"anyOf": [names, {"type": "integer"}]} if numbers else names
    text: dict[str, Any] = {"type": "string"}
    if source.get("format") in TEXT_FORMATS:
        text["pattern"] = TEXT_FORMATS[source["format"]]
    elif "pattern" in source:
        text["pattern"] = f"^(?:{source['pattern']})$"
    return text


# ---- calls ---------------------------------------------------------------------------------------


def _check_place(call: dict[str, Any], document: Document, method: dict[str, Any]) -> Iterator[str]:
    is_upload = "/upload/" in call["path"] or call["path"].startswith("/upload/")
    if call["method"] != method["httpMethod"] and not (is_upload and call["method"] in SESSION):
        yield f"{call['method']}, but the document says {method['httpMethod']}"
    path = re.sub(r"^/(?:(?:resumable/)?upload|download)/", "/", call["path"])
    template = f"/{document.service_path}{method['path']}"
    if not re.fullmatch(_pattern(template, method.get("parameters", {})), unquote(path)):
        yield f"the path is not {template}: {path}"


@functools.lru_cache(maxsize=512)
def _compiled(template: str, patterns: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    known = dict(patterns)

    def variable(found: re.Match[str]) -> str:
        given = known.get(found[2], "")
        anything = ".+" if found[1] else ".+?"
        return f"(?:{given.removeprefix('^').removesuffix('$') or anything})"

    pieces = re.split(r"(\{\+?\w+\})", template)
    return re.compile(
        "".join(
            re.sub(r"\{(\+?)(\w+)\}", variable, piece) if piece[:1] == "{" else re.escape(piece)
            for piece in pieces
        )
    )


def _pattern(template: str, parameters: dict[str, Any]) -> re.Pattern[str]:
    patterns = ((name, one["pattern"]) for name, one in parameters.items() if "pattern" in one)
    return _compiled(template, tuple(sorted(patterns)))


def _check_query(call: dict[str, Any], document: Document, method: dict[str, Any]) -> Iterator[str]:
    known = {
        name: one
        for name, one in {**document.parameters, **method.get("parameters", {})}.items()
        if one["location"] == "query"
    }
    given = parse_qsl(call["query"], keep_blank_values=True)
    for name, text in given:
        parameter = known.get(name)
        if parameter is None and name not in FRONT_END:
            yield f"unknown parameter {name}"
        elif parameter is not None and name not in FRONT_END:
            yield from _check_parameter(name, text, parameter)
    for name, parameter in known.items():
        is_session = "upload_id" in call["query"]
        if parameter.get("required") and name not in dict(given) and not is_session:
            yield f"parameter {name} lacks"


def _check_parameter(name: str, text: str, parameter: dict[str, Any]) -> Iterator[str]:
    kind = parameter["type"]
    value: Any = text
    if kind == "boolean" and text.lower() in ("true", "false"):
        value = text.lower() == "true"
    elif kind in ("integer", "number") and re.fullmatch(r"-?\d+(\.\d+)?", text):
        value = json.loads(text)
    elif "enum" in parameter and text.isdecimal():
        value = int(text)  # Clients that are made from protocol buffers say enums by number.
    wanted = _schema(parameter, numbers=True)
    if not jsonschema.Draft202012Validator(wanted).is_valid(value):
        yield f"parameter {name} has a wrong value: {text!r}"


def _check_body(call: dict[str, Any], document: Document, method: dict[str, Any]) -> Iterator[str]:
    if call["body"] in (None, {}):
        return
    wanted = _reference(method.get("request"))
    if not wanted:
        yield "a body, but the document has none"
        return
    numbers = INT_ENUMS in unquote(call["query"])
    for error in document.errors(wanted, call["body"], numbers=numbers):
        yield f"request {error}"


def _check_answer(
    call: dict[str, Any], document: Document, method: dict[str, Any]
) -> Iterator[str]:
    answer, status = call["response"], call["status"]
    if status >= 400:
        yield from _check_refusal(answer, status)
    elif answer is not None:
        wanted = _reference(method.get("response"))
        if not wanted and not call["query"].endswith("alt=media"):
            yield "an answer, but the document has none"
        elif wanted and "alt=media" not in call["query"]:
            numbers = INT_ENUMS in unquote(call["query"])
            for error in document.errors(wanted, answer, numbers=numbers):
                yield f"answer {error}"


def _check_refusal(answer: Any, status: int) -> Iterator[str]:
    """Google's errors have one shape in every service; documents do not describe it."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if error is None:
        return  # A download's refusal is plain text.
    if error.get("code") != status or not isinstance(error.get("message"), str):
        yield f"answer {status} has no error of that code"
