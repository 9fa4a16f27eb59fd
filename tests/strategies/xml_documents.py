"""Random well-formed XML: nested elements, every kind of character data, comments, instructions, encodings."""

from hypothesis import strategies as st

from focuseval.collection.block import ELEMENT, NODE
from focuseval.collection.parse import Raw

NAMES = [
    "a",
    "p",
    "sec",
    "ns:x",
    "bibliography",
    "a-name-of-more-than-sixteen-bytes",
    "a-name-of-more-than-sixteen-bytez",
    "é",
    "節",
]
PLAIN = [
    " ",
    "\n",
    "\t",
    "  \n",
    "x",
    "word two",
    "]] ]",
    "é",
    "naïve ß",
    "漢字",
    "😀",
    "a\u0301",
    "\u00a0",
    "/",
    "=",
    "'\"",
    ";",
]
REFERENCES = [
    "&lt;",
    "&gt;",
    "&amp;",
    "&quot;",
    "&apos;",
    "&#65;",
    "&#x41;",
    "&#10;",
    "&#32;",
    "&#x1F600;",
    "&#00000000233;",
]
MARKUP = [
    "<!-- c -->",
    "<!--a < b > c-->",
    "<?pi some > data?>",
    "<![CDATA[]]>",
    "<![CDATA[<b> & ]]]>",
    "<![CDATA[ ]]>",
]
LINE_ENDS = ["\r\n", "\r", "&#13;"]
TROUBLE = [">", "a > b", *LINE_ENDS]
ATTRIBUTES = ["", " id='1'", ' id="a"\n  n="2"', " t='/'", ' r="&lt;&amp;"']
ODD_ATTRIBUTES = [' x="a>b"', " y='<!--'".replace("<", "&lt;"), ' z="-->"']
ENDS = ["", " ", "\n"]
ENCODINGS = [
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "iso-8859-1",
    "us-ascii",
    "windows-1252",
    "koi8-r",
]


SPICES = [
    (MARKUP, ATTRIBUTES),
    (LINE_ENDS, ATTRIBUTES),
    (PLAIN, ODD_ATTRIBUTES),
    (MARKUP + TROUBLE, ODD_ATTRIBUTES),
]
"""What a document may hold besides ordinary text: one kind of trouble at a time, or all."""


@st.composite
def bodies(draw, *, spice=(REFERENCES, ATTRIBUTES), depth=4):
    """An element as a string."""
    other, attributes = spice
    name = draw(st.sampled_from(NAMES))
    start = name + draw(st.sampled_from(attributes)) + draw(st.sampled_from(ENDS))
    if draw(st.integers(0, 4)) == 0:
        return f"<{start}/>"
    text = st.sampled_from([*PLAIN, *REFERENCES, ""])
    between = st.sampled_from(other)
    if depth > 1:
        between = st.one_of(between, bodies(spice=spice, depth=depth - 1))
    pairs = draw(st.lists(st.tuples(text, between), max_size=4))
    content = "".join(piece for pair in pairs for piece in pair) + draw(text)
    return f"<{start}>{content}</{name}{draw(st.sampled_from(ENDS))}>"


@st.composite
def documents(draw, *, ordinary=False):
    """A whole document as bytes, in any encoding that expat reads."""
    encoding = "utf-8" if ordinary or draw(st.booleans()) else draw(st.sampled_from(ENCODINGS))
    body = draw(bodies() if ordinary else st.sampled_from(SPICES).flatmap(lambda spice: bodies(spice=spice)))
    declared = "utf-16" if encoding.startswith("utf-16") else encoding.removesuffix("-sig")
    needed = encoding not in ("utf-8", "utf-8-sig", "utf-16")
    prolog = f'<?xml version="1.0" encoding="{declared}"?>' if needed or draw(st.booleans()) else ""
    prolog += draw(st.sampled_from(["", "\n", "<!-- a > b -->\n", "<?style sheet?>"]))
    if not ordinary:
        prolog += draw(
            st.sampled_from(["", "", "", '<!DOCTYPE a [<!ENTITY e "t<p>u</p>v"><!ELEMENT p ANY>]>', "<!DOCTYPE a>"])
        )
        if "ENTITY" in prolog and "</" in body:
            body = body.replace("</", "&e;</", 1)
    epilog = draw(st.sampled_from(["", "\n", "<!-- after -->" if not ordinary else " \n"]))
    return _encodable(prolog + body + epilog, encoding).encode(encoding)


def _encodable(text: str, encoding: str) -> str:
    """Keep the shape of a document where an encoding lacks a character."""
    return "".join(char if char.encode(encoding, "ignore") or encoding == "utf-8-sig" else "q" for char in text)


def raws(contents):
    """Documents named by their place."""
    return [Raw(f"d{i}", f"d{i}.xml", content) for i, content in enumerate(contents)]


def columns(block):
    """Everything a block says."""
    named = {"tags": block.tags} | {name: block.element(name).tolist() for name in ELEMENT}
    named |= {f"node {name}": block.node(name).tolist() for name in NODE}
    return named | {name: block.batch.column(name).to_pylist() for name in ("id", "length", "sha256", "text", "bytes")}
