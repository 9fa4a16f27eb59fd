r"""Quotations in running text, and the citation marks behind them.

>>> list(marked('He says “the sea is deep,” [2][b/one] and "no more" (see 3).'))
[('the sea is deep,', ('2', 'b/one')), ('no more', ())]
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_QUOTED = re.compile(r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|»([^«»]+)«|(?<!\w)\"([^\"]+)\"(?!\w)|``(.+?)''", re.DOTALL)
_MARKS = re.compile(r"[\s.,;:!?]{0,3}((?:[\[【][^\[\]【】\n]{1,200}[\]】][\s,;]?)+)")
_MARK = re.compile(r"[\[【]([^\[\]【】]+)[\]】]")


def marked(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what stands between quotation marks, and what the brackets right behind it name."""
    for found in _QUOTED.finditer(text):
        quote = next(group for group in found.groups() if group is not None)
        behind = _MARKS.match(text, found.end())
        inner = [part for mark in _MARK.findall(behind[1]) for part in mark.split(",")] if behind else []
        yield quote, tuple(part.strip().lstrip("^").removeprefix("doc:").strip() for part in inner if part.strip())
