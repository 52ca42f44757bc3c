"""How a request is shown to people: as calls, as commands of gcloud, and for Terraform.

Must not name an engine, nor ask anything of anybody. Engines own their renderings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, runtime_checkable

Request = TypeVar("Request", contravariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of an API, as it is sent; the token that authorises it is no part of it."""

    method: str
    url: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """Plain values, in the order to read them."""
        return {
            "method": self.method,
            "url": self.url,
            "query": dict(self.query),
            "body": dict(self.body),
        }


@runtime_checkable
class Renders(Protocol[Request]):
    """An engine whose requests can be shown in other words than its own."""

    def calls(self, request: Request) -> Sequence[Call]:
        """10. What `submit` sends, in order, exactly."""

    def gcloud(self, request: Request) -> str:
        """11. A shell script that asks for the same with gcloud."""

    def terraform(self, request: Request) -> str:
        """12. The same as resources of Terraform's google provider. Raises OptionRefused where
        it has none."""
