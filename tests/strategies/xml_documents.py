"""Random well-formed XML: nested elements, every kind of character data, comments, instructions, encodings."""

from hypothesis import strategies as st

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
TROUBLE = [">", "a > b", "\r\n", "\r", "&#13;"]
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


@st.composite
def bodies(draw, *, ordinary=False, depth=4):
    """An element as a string; `ordinary` leaves out all that the fast path hands to expat's events."""
    name = draw(st.sampled_from(NAMES))
    attributes = draw(st.sampled_from(ATTRIBUTES if ordinary else ATTRIBUTES + ODD_ATTRIBUTES))
    end = draw(st.sampled_from(ENDS))
    if draw(st.integers(0, 4)) == 0:
        return f"<{name}{attributes}{end}/>"
    pieces = [PLAIN, REFERENCES] if ordinary else [PLAIN, REFERENCES, MARKUP, TROUBLE]
    piece = st.one_of(*(st.sampled_from(kind) for kind in pieces))
    if depth > 1:
        piece = st.one_of(piece, bodies(ordinary=ordinary, depth=depth - 1))
    content = "".join(draw(st.lists(piece, max_size=5)))
    content = content.replace("]]>", "]] >") if ordinary else content
    return f"<{name}{attributes}{end}>{content}</{name}{end}>"


@st.composite
def documents(draw, *, ordinary=False):
    """A whole document as bytes, in any encoding that expat reads."""
    encoding = "utf-8" if ordinary else draw(st.sampled_from(ENCODINGS))
    body = draw(bodies(ordinary=ordinary))
    declared = "utf-16" if encoding.startswith("utf-16") else encoding.removesuffix("-sig")
    needed = encoding not in ("utf-8", "utf-8-sig", "utf-16")
    prolog = f'<?xml version="1.0" encoding="{declared}"?>' if needed or draw(st.booleans()) else ""
    prolog += draw(st.sampled_from(["", "\n", "<!-- a > b -->\n", "<?style sheet?>"]))
    if not ordinary:
        prolog += draw(st.sampled_from(["", '<!DOCTYPE a [<!ENTITY e "t<p>u</p>v"><!ELEMENT p ANY>]>', "<!DOCTYPE a>"]))
        if "ENTITY" in prolog and "</" in body:
            body = body.replace("</", "&e;</", 1)
    epilog = draw(st.sampled_from(["", "\n", "<!-- after -->" if not ordinary else " \n"]))
    return _encodable(prolog + body + epilog, encoding).encode(encoding)


def _encodable(text: str, encoding: str) -> str:
    """Keep the shape of a document where an encoding lacks a character."""
    return "".join(char if char.encode(encoding, "ignore") or encoding == "utf-8-sig" else "q" for char in text)
