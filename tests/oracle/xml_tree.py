"""A slow and obvious reading of XML: walk a DOM, build strings, count as XPath 1.0 does.

It shares no code with the package: the tree comes from ``xml.dom``, and everything else is read off it by recursion.
"""

from dataclasses import dataclass, field
from xml.dom import Node, expatbuilder


@dataclass
class Slow:
    text: str = ""
    elements: list[tuple[str, int, int, int]] = field(default_factory=list)  # path, depth, start, end
    nodes: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # path → spans of its text nodes

    @property
    def spans(self) -> dict[str, tuple[int, int]]:
        return {path: (start, end) for path, _, start, end in self.elements}


def slow_tree(data: bytes) -> Slow:
    document = expatbuilder.parseString(data, namespaces=False)
    result = Slow()
    _walk(document.documentElement, "", 1, 1, result)
    document.unlink()
    return result


def _walk(element: Node, above: str, n: int, depth: int, result: Slow) -> None:
    path = f"{above}/{element.nodeName}[{n}]"
    row = len(result.elements)
    result.elements.append((path, depth, len(result.text), -1))
    spans = result.nodes.setdefault(path, [])
    seen: dict[str, int] = {}
    node_open = False
    for child in element.childNodes:
        if child.nodeType in (Node.TEXT_NODE, Node.CDATA_SECTION_NODE):
            if child.data:
                start = len(result.text)
                result.text += child.data
                if node_open:
                    spans[-1] = (spans[-1][0], len(result.text))
                else:
                    spans.append((start, len(result.text)))
                node_open = True
        else:
            node_open = False
        if child.nodeType == Node.ELEMENT_NODE:
            seen[child.nodeName] = seen.get(child.nodeName, 0) + 1
            _walk(child, path, seen[child.nodeName], depth + 1, result)
    result.elements[row] = (path, depth, result.elements[row][2], len(result.text))
