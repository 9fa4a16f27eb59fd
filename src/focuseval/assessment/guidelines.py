"""Guidelines for assessors: Markdown that a lead writes and everybody reads; every version is an event."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from focuseval.assessment.plan import record
from focuseval.engine.lazy import cached_property
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from focuseval.assessment.store import Store

LONGEST = 200_000
_LOCK = threading.Lock()
"""Two who save at once do not overwrite each other unseen."""


@dataclass(frozen=True)
class Guidelines:
    """The guidelines as they stand; version 0 where none were written."""

    text: str = ""
    version: int = 0
    at: str = ""
    by: str = ""

    @cached_property
    def html(self) -> str:
        """The text as HTML; markup in it is shown, not obeyed, and links lead to the web or to a mailbox alone."""
        return render_markdown(self.text)


def guidelines(store: Store) -> Guidelines:
    """Return the newest guidelines."""
    versions = store.project_log("guidelines")
    if not versions:
        return Guidelines()
    at, actor, told = versions[-1]
    return Guidelines(told["text"], len(versions), at, actor)


def write_guidelines(store: Store, text: str, *, version: int, actor: str) -> Guidelines:
    """Write new guidelines over the version that the writer saw."""
    if len(text) > LONGEST:
        raise AssessError(f"expected guidelines of at most {LONGEST:,} characters, found {len(text):,}")
    with _LOCK:
        before = guidelines(store)
        if before.version != version:
            raise AssessError(f"{before.by} changed the guidelines in the meantime; look at them and write yours again")
        if text != before.text:
            record(store, {"kind": "guidelines", "text": text}, actor=actor)
        return guidelines(store)


def render_markdown(text: str) -> str:
    """Return CommonMark with tables as HTML.

    >>> print(render_markdown("*Do* <script>"), end="")
    <p><em>Do</em> &lt;script&gt;</p>
    """
    from markdown_it import MarkdownIt  # noqa: PLC0415  most commands show no Markdown

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    found: str = parser.render(text)
    return found
