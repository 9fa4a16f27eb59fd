"""Documents for tests of the desk: parsed the slow and obvious way, served from a dictionary."""

from xml.etree import ElementTree as ET

import numpy as np

from focuseval.collection.rendering import Document, DocumentCache, Element
from focuseval.data.topics import Topic
from focuseval.errors import AssessError

ARTICLE = """<article><title>Tides</title>
<body><section><title>The moon</title>
<p>The moon pulls the sea. Twice a day the water rises; <it>spring tides</it> follow the new moon.</p>
<p>A second paragraph speaks of harbours 🚢 and of pilots. It ends here.</p></section>
<section><title>Tables</title><list><item>High water at Brest</item><item>Low water at Dover</item></list>
<p>Tide tables were once a trade secret.</p></section></body></article>"""

TOPICS = (
    Topic(
        "11",
        "CO",
        title='+tides "new moon"',
        description="What makes the tides, and how were they foretold?",
        narrative="Relevant text explains the moon's part in the tides, or how tide tables were made.",
    ),
    Topic("12", "CO", title="harbour pilots"),
)


def page_from_xml(name, source):
    """The text and the elements of an article, element by element."""
    rows, pieces = [], []

    def walk(node, parent, path):
        row = len(rows)
        rows.append(None)
        start = sum(map(len, pieces))
        pieces.append(node.text or "")
        seen = {}
        for child in node:
            seen[child.tag] = seen.get(child.tag, 0) + 1
            walk(child, row, f"{path}/{child.tag}[{seen[child.tag]}]")
            pieces.append(child.tail or "")
        rows[row] = Element(path, node.tag, start, sum(map(len, pieces)), parent)

    root = ET.fromstring(source)
    walk(root, -1, f"/{root.tag}[1]")
    return Document(name, "".join(pieces), tuple(rows))


def extents_of(page):
    """Where the elements with text of a document are, as `DocumentCache.extents` gives them."""
    elements = [element for element in page.elements if element.start < element.end]
    start, end = np.array([(element.start, element.end) for element in elements], np.int64).reshape(-1, 2).T
    return page.sha256, start, end


class Pages:
    """As `Documents`, without an index."""

    index = None

    def __init__(self, *documents):
        self._documents = {document.id: document for document in documents}
        self._titles = {}

    titles = DocumentCache.titles

    def put(self, document):
        self._documents[document.id] = document

    def get(self, name):
        if name not in self._documents:
            raise AssessError(f"the collection has no document {name!r}")
        return self._documents[name]

    plain = get

    def pages(self, name):
        return None

    def extents(self, name):
        return extents_of(self.get(name))
