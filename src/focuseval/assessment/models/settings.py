"""What a language model is asked with: its server, its name, the size of a window, and how patient we are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

from focuseval.errors import UsageError

_PATH = "/chat/completions"
_NAME = re.compile(r"[^\s,\x00-\x1f\x7f]{1,120}")


class Endpoint(NamedTuple):
    """The one address that requests go to."""

    scheme: str
    host: str
    port: int
    path: str

    def __str__(self) -> str:
        """Return the address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"

    @property
    def is_open_to_listeners(self) -> bool:
        """Whether a key would go over a network unencrypted."""
        return self.scheme == "http" and self.host not in ("localhost", "127.0.0.1", "::1")


def endpoint_of(url: str) -> Endpoint:
    """Return the address of a server's chat completions, from that address or from its beginning.

    >>> str(endpoint_of("http://localhost:11434")), str(endpoint_of("https://llm.example.org/v1/"))
    ('http://localhost:11434/v1/chat/completions', 'https://llm.example.org:443/v1/chat/completions')
    """
    wanted = "expected --endpoint http://HOST:PORT/v1 or https://…"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{wanted}, found: {error}") from error
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise UsageError(f"{wanted}, found a user, a password or a query in it; give a key with --api-key-env")
    if parts.scheme not in ("http", "https") or not parts.hostname or not url.isascii() or not url.isprintable():
        raise UsageError(f"{wanted}, found {url!r}")
    path = parts.path.rstrip("/").removesuffix(_PATH) or "/v1"
    return Endpoint(parts.scheme, parts.hostname, port or (443 if parts.scheme == "https" else 80), path + _PATH)


@dataclass(frozen=True)
class ModelSettings:
    """How a model is asked."""

    endpoint: str
    model: str
    key: str = field(default="", repr=False)
    """Sent as a bearer token, and never written anywhere."""
    assessor: str = ""
    """The name in the assessor's label; the model's where it is empty."""
    window: int = 12_000
    """Characters of a document in one request."""
    max_tokens: int = 2_000
    """The longest answer."""
    timeout: float = 120.0
    """Seconds from the beginning of a request to the end of its answer."""
    retries: int = 5
    """How often a request is sent again after 429, 5xx, a time-out or a broken connection."""
    jobs: int = 1
    """Requests at once."""

    def __post_init__(self) -> None:
        """Refuse what could not be sent or stored."""
        endpoint_of(self.endpoint)
        for what, name in (("--model", self.model), ("--assessor", self.assessor or self.model)):
            if not _NAME.fullmatch(name):
                raise UsageError(f"expected {what} without blanks and commas, found {name!r}")
        if not (self.key.isascii() and self.key.isprintable()) or " " in self.key:
            raise UsageError("expected a key of printable ASCII characters without blanks, found something else")
        if self.window < 200:
            raise UsageError(f"expected a window of 200 characters or more, found {self.window}")

    def label(self, prompt_hash: str) -> str:
        """Return the name that the assessor has in every view and export.

        >>> ModelSettings("http://localhost:11434", "llama3.1:8b").label("1f00ba12")
        'model:llama3.1:8b@1f00ba12'
        """
        return f"model:{self.assessor or self.model}@{prompt_hash}"
