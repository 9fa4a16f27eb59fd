"""Simulated runs the slow way: one article at a time, with sets of characters."""

from __future__ import annotations

import xml.etree.ElementTree as ET


def walk(source: str):
    """Yield (path, set of characters, depth) of every element, in document order, and the text."""
    root = ET.fromstring(source)
    found, text = [], []

    def visit(node, path, depth):
        place = len(found)
        found.append(None)
        begin = len(text)
        text.extend(node.text or "")
        seen: dict[str, int] = {}
        for child in node:
            seen[child.tag] = seen.get(child.tag, 0) + 1
            visit(child, f"{path}/{child.tag}[{seen[child.tag]}]", depth + 1)
            text.extend(child.tail or "")
        found[place] = (path, set(range(begin, len(text))), depth)

    visit(root, f"/{root.tag}[1]", 1)
    return found, "".join(text)


def passages(highlighted: set[int]) -> list[set[int]]:
    """Maximal runs of highlighted characters."""
    out: list[set[int]] = []
    for position in sorted(highlighted):
        if out and position - 1 in out[-1]:
            out[-1].add(position)
        else:
            out.append({position})
    return out


def outermost(picks):
    return [p for p in picks if not any(p[0] != q[0] and p[0].startswith(q[0] + "/") for q in picks)]


def innermost(picks):
    return [p for p in picks if not any(p[0] != q[0] and q[0].startswith(p[0] + "/") for q in picks)]


def select(selection: str, source: str, highlighted: set[int]) -> list[str]:
    """The paths that a selection takes from one article."""
    elements, _ = walk(source)
    elements = [e for e in elements if e[1]]
    runs = passages(highlighted)
    if selection == "S_LD":
        return [elements[0][0]]
    if selection == "S_L":
        picks = []
        for passage in runs:
            around = [e for e in elements if passage <= e[1]]
            picks.append(min(around, key=lambda e: (len(e[1]), e[2])))
        return [p[0] for p in outermost(list({p[0]: p for p in picks}.values()))]
    inside = [e for e in elements if any(e[1] <= passage for passage in runs)]
    if not inside:
        overlapping = [e for e in elements if e[1] & highlighted]
        return [min(overlapping, key=lambda e: len(e[1]))[0]]
    return [p[0] for p in (outermost(inside) if selection == "S_S" else innermost(inside))]
