"""What was computed, in one line that is printed with every score and can be read back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.engine.version import __version__
from focuseval.measures.matching.policies import Policies

if TYPE_CHECKING:
    from focuseval.evaluation.plan import Plan
    from focuseval.measures.matching.prepared import Prepared

VERSION = __version__
"""Looked up once: it costs as much as scoring a hundred topics."""

_DEFAULTS = dict(part.split(":", 1) for part in Policies().signature().split("|")) | {
    "profile": "none",
    "repair": "no",
    "drop_tags": "",
    "tokenizer": "none",
}
"""What a signature that does not name a part stands for."""

_NO_CHOICE = frozenset({"focuseval", "ties", "repeated", "unjudged", "unit"})
"""The version, and parts of 0.1.0 that had no effect: nothing that two signatures can differ in."""


def signature(plan: Plan, prepared: Prepared) -> str:
    """Say exactly what was computed: version, profile, policies, and the quantisation that elements were given."""
    parts = [f"focuseval:{VERSION}", f"profile:{plan.profile or 'none'}", plan.policies.signature()]
    parts += ["repair:yes"] if plan.repair else []
    if plan.tokenizer is not None and any(asked.counts_tokens for asked in plan.measures):
        parts.append(f"tokenizer:{plan.tokenizer.name}")
    if any(p.name == "quant" for asked in plan.measures for p in asked.measure.parameters):
        from focuseval.measures.quantise import DEFAULTS  # noqa: PLC0415  only elements are quantised

        parts.append(f"quant:{DEFAULTS.get(prepared.gold.scale, 'none')}")
    return "|".join(parts)


def decisions(text: str) -> dict[str, str]:
    """Return what a signature decides, by name; a part that is absent has its default, another version is no decision.

    >>> decisions("focuseval:0.1.0|profile:none|ties:file|missing:skip")["missing"]
    'skip'
    >>> decisions("focuseval:0.1.0|ties:file|missing:zero") == decisions("focuseval:0.2.0")
    True
    """
    said = dict(part.split(":", 1) for part in text.split("|") if ":" in part)
    return _DEFAULTS | {name: value for name, value in said.items() if name not in _NO_CHOICE}
