"""PDFs: their text, their elements, and a box for every character."""

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from focuseval import build_index, chunk, open_documents, open_index
from focuseval.cli.commands import main
from focuseval.collection import pdfium
from focuseval.collection.pdf import PdfRules, read_pdf
from focuseval.collection.pdfium import PageCharacters
from focuseval.collection.sources import left_out
from focuseval.engine import native
from focuseval.errors import CollectionError, UsageError
from pdfs import paragraph, pdf

SERIF = "/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf"


def opened(folder, data, rules=""):
    """Return an index of one PDF in memory or, with rules, on disk."""
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs/a.pdf").write_bytes(data)
    if not rules:
        return open_documents(folder / "docs")
    build_index(folder / "docs", folder / "x.idx", jobs=1, force=True, pdf=rules)
    return open_index(folder / "x.idx")


def paths(index):
    return [(element.path, index.text(0)[element.start : element.end]) for element in index.document("a")]


def inked(pages):
    """Return the positions that have a box."""
    return {place for page in range(1, len(pages) + 1) for place in pages.characters(page)[0].tolist()}


def there_and_back(index, start, end):
    """Return the characters in the boxes of a span, line ends left out."""
    pages = index.pages(0)
    found = [span for page, box in zip(*pages.boxes(start, end), strict=True) for span in pages.covered([(page, box)])]
    return {place for low, high in found for place in range(low, high)} & inked(pages)


def test_pages_and_blocks_are_elements_and_the_text_is_that_of_the_lines(tmp_path):
    first = [*paragraph("Tides", y=80), *paragraph("The sea rises", "twice a day.", y=120)]
    index = opened(tmp_path, pdf(first, paragraph("The moon pulls.")))
    assert index.text(0) == "Tides\n\nThe sea rises\ntwice a day.\n\nThe moon pulls."
    assert paths(index)[1:] == [
        ("/pdf[1]/page[1]", "Tides\n\nThe sea rises\ntwice a day."),
        ("/pdf[1]/page[1]/block[1]", "Tides"),
        ("/pdf[1]/page[1]/block[2]", "The sea rises\ntwice a day."),
        ("/pdf[1]/page[2]", "The moon pulls."),
        ("/pdf[1]/page[2]/block[1]", "The moon pulls."),
    ]
    assert index.documents.column("file").to_pylist() == ["a.pdf"]


def test_two_columns_are_read_as_the_file_draws_them(tmp_path):
    left = paragraph("one two", "three", "four five", x=72)
    right = paragraph("six seven", "eight", x=330)
    assert opened(tmp_path, pdf([*left, *right])).text(0) == "one two\nthree\nfour five\n\nsix seven\neight"


@pytest.mark.parametrize(
    ("rules", "text"),
    [("", "international\nwater"), ("hyphens=keep", "inter-\nnational\nwater")],
)
def test_a_hyphen_at_a_line_end_goes_before_a_small_letter_unless_it_is_kept(tmp_path, rules, text):
    assert opened(tmp_path, pdf(paragraph("inter-", "national", "water")), rules).text(0) == text


def test_a_hyphen_stays_before_a_capital(tmp_path):
    assert opened(tmp_path, pdf(paragraph("the Baden-", "Powell tree"))).text(0) == "the Baden-\nPowell tree"


def page_of(codes, **more):
    """Return a page of one line with these characters, ten points each."""
    count = len(codes)
    left = np.arange(count, dtype=np.float32) * 10
    box = np.stack([left, np.full(count, 50), left + 10, np.full(count, 62)], axis=1).astype(np.float32)
    kinds = {"code": np.array([ord(c) for c in codes], np.uint32), "box": box, "flags": np.zeros(count, np.uint8)}
    return PageCharacters(600, 800, 0, **(kinds | more))


def laid(monkeypatch, codes, rules=""):
    monkeypatch.setattr("focuseval.collection.pdf.read_characters", lambda data, file: [page_of(codes)])
    return read_pdf(b"", "a.pdf", PdfRules.parse(rules))


def test_ligatures_become_letters_that_share_the_box(monkeypatch):
    tree = laid(monkeypatch, "aﬃx")
    assert tree.text == "affix"
    assert tree.laid.characters(1)[1][:, 0] == pytest.approx([0, 10, 13.33, 16.67, 20], abs=0.05)
    assert laid(monkeypatch, "aﬃx", "ligatures=keep").text == "aﬃx"


def test_soft_hyphens_go_unless_they_are_kept(monkeypatch):
    assert laid(monkeypatch, "mar\u00adket").text == "market"
    assert laid(monkeypatch, "mar\u00adket", "hyphens=keep").text == "mar\u00adket"


def test_what_is_no_character_is_left_out(monkeypatch):
    assert laid(monkeypatch, "a\x00b\ud800c\ufffed\te").text == "abcd e"


@pytest.mark.parametrize(("rules", "tags", "first"), [("", 4, "Annual report 1\n\nOne"), ("repeated=drop", 0, "One")])
def test_headers_and_footers_that_repeat_are_no_blocks_and_can_be_dropped(tmp_path, rules, tags, first):
    words = ("One", "Two", "Three", "Four")
    pages = [
        [(72, 40, f"Annual report {n}"), (72, 300, word), (300, 770, f"page {n}")] for n, word in enumerate(words, 1)
    ]
    index = opened(tmp_path, pdf(*pages), rules)
    found = index.elements(0).tags
    assert found.count("header") == found.count("footer") == tags
    assert found.count("block") == 4
    assert index.text(0).startswith(first)


def test_a_page_without_text_is_counted_and_named(tmp_path):
    blank = list[tuple[int, int, str]]()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.pdf").write_bytes(pdf(paragraph("One."), blank, blank, paragraph("Four."), blank))
    result = CliRunner().invoke(main, ["index", str(tmp_path / "docs"), "-o", str(tmp_path / "x.idx"), "-j", "1"])
    assert result.exit_code == 0
    assert f"3 pages without text, scans maybe: {tmp_path}/docs/a.pdf: pages 2–3, 5\n" in result.stderr
    index = open_index(tmp_path / "x.idx")
    assert index.metadata["pages_without_text"] == [f"{tmp_path}/docs/a.pdf: pages 2–3, 5"]
    assert index.metadata["pdf"].startswith("rules 1, hyphens=join ligatures=split repeated=keep, PDFium ")
    assert [index.pages(0).span(page) for page in (1, 2, 3, 4, 5)] == [(0, 4), (4, 4), (4, 4), (6, 11), (11, 11)]
    nothing = opened(tmp_path, pdf(blank))
    assert (nothing.text(0), len(nothing.pages(0))) == ("", 1)


def test_an_index_on_disk_has_what_one_in_memory_has_beside_documents_of_other_kinds(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/b.xml").write_text("<a>x</a>")
    (tmp_path / "docs/c.txt").write_text("plain")
    memory = opened(tmp_path, pdf(paragraph("To be, or", "not to be"), paragraph("that is")))
    disk = opened(tmp_path, pdf(paragraph("To be, or", "not to be"), paragraph("that is")), "hyphens=join")
    assert disk.sha256 == memory.sha256
    assert [disk.pages(row) is None for row in range(3)] == [False, True, True]
    for page in (1, 2):
        for one, other in zip(disk.pages(0).characters(page), memory.pages(0).characters(page), strict=True):
            assert one.tolist() == other.tolist()


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (40, 60, 560, 640)])
def test_boxes_are_those_of_the_page_as_it_is_seen(tmp_path, turn, crop):
    index = opened(tmp_path, pdf([(100, 300, "Here")], size=(700, 700), turn=turn, crop=crop))
    pages = index.pages(0)
    ((left, top, right, bottom),) = pages.boxes(0, 4)[1].round(1).tolist()
    frame = crop or (0, 0, 700, 700)
    wide, tall = frame[2] - frame[0], frame[3] - frame[1]
    base_x, base_y = 100 - frame[0], 400 - frame[1]  # where the line begins, from the lower left corner
    assert pages.size(1) == ((wide, tall) if turn % 180 == 0 else (tall, wide))
    begins, across = {  # where the line begins, and what its base line lies between
        0: ((left, base_x), (top, tall - base_y, bottom)),
        90: ((top, base_x), (left, base_y, right)),
        180: ((right, wide - base_x), (top, base_y, bottom)),
        270: ((bottom, wide - base_x), (left, tall - base_y, right)),
    }[turn]
    assert begins[0] == begins[1]
    assert across == tuple(sorted(across))
    assert pages.line["direction"].tolist() == [turn // 90]


def drawings():
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))

    def table(canvas):
        for row in range(4):
            for column in range(3):
                canvas.drawString(72 + 150 * column, 700 - 20 * row, f"cell {row}.{column}")

    def turned(canvas):
        canvas.drawString(72, 700, "level")
        for angle in (90, 180, 270, 33):
            canvas.saveState()
            canvas.translate(300, 400)
            canvas.rotate(angle)
            canvas.drawString(40, 0, f"by {angle} degrees")
            canvas.restoreState()

    def cjk(canvas):
        canvas.setFont("HeiseiMin-W3", 12)
        canvas.drawString(72, 700, "潮汐は月の引力 による")

    def footnote(canvas):
        canvas.drawString(72, 700, "The tide")
        canvas.setFont("Helvetica", 7)
        canvas.drawString(118, 704, "1")
        canvas.drawString(72, 60, "1 See the almanac.")

    columns = [*paragraph("one two", "three", x=72), *paragraph("four", "five six", x=330)]
    return {
        "table": table,
        "turned": turned,
        "cjk": cjk,
        "footnote": footnote,
        "columns": columns,
        "hebrew": right_to_left(HEBREW),
    }


HEBREW, ARABIC = "שלום עולם טוב", "مرحبا بالعالم"


def right_to_left(*lines):
    """Return a function that draws lines of right-to-left letters as they are seen: programs that set type do so."""
    pdfmetrics.registerFont(TTFont("Sans", SERIF.replace("Serif", "Sans")))

    def draw(canvas):
        canvas.setFont("Sans", 12)
        for number, line in enumerate(lines):
            canvas.drawString(72, 700 - 20 * number, line[::-1])

    return draw


def test_right_to_left_letters_come_in_the_order_in_which_they_are_read_from_right_to_left(tmp_path):
    index = opened(tmp_path, pdf(right_to_left(HEBREW, ARABIC)))
    assert index.text(0) == f"{HEBREW}\n{ARABIC}"
    assert index.pages(0).line["direction"].tolist() == [2, 2]
    position, boxes = index.pages(0).characters(1)
    assert (np.diff(boxes[position < len(HEBREW), 0]) < 0).all()
    ends = [pdfmetrics.stringWidth(HEBREW[n:], "Sans", 12) for n in range(len(HEBREW))]
    assert boxes[position < len(HEBREW), 2] == pytest.approx(72 + np.array(ends), abs=0.2)


def test_in_a_line_of_two_directions_every_letter_has_its_own_box(tmp_path):
    line = f"34 {HEBREW} 1250"
    drawn = line.replace(HEBREW, HEBREW[::-1])  # as it is seen in a text from left to right
    index = opened(tmp_path, pdf(right_to_left(drawn[::-1])))
    text = index.text(0)
    assert text == f"1250 {HEBREW} 34"  # PDFium's order: from the right end on
    position, boxes = index.pages(0).characters(1)
    begins = {letter: 72 + pdfmetrics.stringWidth(drawn[:at], "Sans", 12) for at, letter in enumerate(drawn)}
    for place, left in zip(position.tolist(), boxes[:, 0].tolist(), strict=True):
        if drawn.count(text[place]) == 1:
            assert left == pytest.approx(begins[text[place]], abs=0.2), text[place]


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_lines_of_a_page_that_is_turned_are_one_block_in_the_order_in_which_they_are_read(tmp_path, turn):
    lines = ("The survey of the estuary", "began with the first tide", "and ended with the last.")
    pages = ([*paragraph(*lines), *paragraph("Apart", y=300, x=90)], paragraph("Another page"))
    index = opened(tmp_path, pdf(*pages, turn=turn))
    assert index.text(0) == "\n\n".join(("\n".join(lines), "Apart", "Another page"))
    assert [element.path for element in index.document("a")][2:4] == [f"/pdf[1]/page[1]/block[{n}]" for n in (1, 2)]
    for start in range(len(index.text(0)) - 20):
        assert there_and_back(index, start, start + 20) == inked(index.pages(0)) & set(range(start, start + 20))


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_spaces_that_pdfium_puts_in_stand_between_their_words_however_wide_they_are(tmp_path, turn):
    words = [(72, 100, "left"), (97, 100, "near"), (300, 100, "far"), (500, 100, "end")]
    index = opened(tmp_path, pdf(words, size=(700, 700), turn=turn))
    if turn == 180:  # PDFium reads the words of a line that stands upside down from left to right
        words.reverse()
    assert index.text(0) == " ".join(word for *_, word in words)
    for _, _, word in words:
        start = index.text(0).index(word)
        _, boxes = index.pages(0).boxes(start, start + len(word))
        low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
        assert max(high - low) == pytest.approx(pdfmetrics.stringWidth(word, "Helvetica", 12), abs=0.2)
    if turn == 180:
        return
    for start in range(len(index.text(0))):
        for end in range(start + 1, len(index.text(0)) + 1):
            assert there_and_back(index, start, end) == set(range(start, end))


def test_places_of_characters_take_less_than_a_byte_each_and_the_file_is_kept_unless_it_is_dropped(tmp_path):
    data = pdf(*[paragraph(*["abcdefghij " * 7] * 45, leading=14) for _ in range(20)])
    kept, dropped = opened(tmp_path, data), opened(tmp_path, data, "original=drop")
    batch = dropped.blocks[0].batch
    letters = len(dropped.text(0))
    assert batch.column("steps").nbytes < 0.5 * letters
    assert batch.column("lines").nbytes < 0.4 * letters
    assert kept.text(0) == dropped.text(0)
    assert kept.pages(0).file("a.pdf") == data
    assert dropped.metadata["pdf"].startswith(
        "rules 1, hyphens=join ligatures=split repeated=keep original=drop, PDFium"
    )
    with pytest.raises(CollectionError, match=r"a\.pdf: pictures and annotations need the PDF, and the index was made"):
        dropped.pages(0).file("a.pdf")


@pytest.mark.parametrize("name", ["table", "turned", "cjk", "footnote", "columns", "hebrew"])
@pytest.mark.parametrize("turn", [0, 90])
def test_text_to_boxes_to_text_is_exact(tmp_path, name, turn):
    index = opened(tmp_path, pdf(drawings()[name], paragraph("another", "page"), turn=turn))
    every = inked(index.pages(0))
    size = len(index.text(0))
    for start in range(size):
        for end in {start + 1, start + 2, start + 7, size}:
            assert there_and_back(index, start, end) == every & set(range(start, end)), (start, end)


_LINE = st.text("abc mMil.,-", min_size=1, max_size=30).filter(str.strip)


@given(st.lists(st.lists(_LINE, min_size=1, max_size=6), min_size=1, max_size=3), st.sampled_from([0, 90, 180, 270]))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_layout_keeps_its_letters_and_its_boxes(tmp_path, pages, turn):
    drawn = [paragraph(*lines, leading=20) for lines in pages]
    index = opened(tmp_path, pdf(*drawn, turn=turn))
    written = "".join(line for lines in pages for line in lines).replace(" ", "").replace("-", "")
    text = index.text(0)
    assert sorted("".join(text.split()).replace("-", "")) == sorted(written)  # PDFium orders lines of a few letters
    every = inked(index.pages(0))
    assert {place for place, letter in enumerate(text) if letter.strip()} <= every
    assert there_and_back(index, 0, len(text)) == every
    middle = len(text) // 2
    assert there_and_back(index, middle, len(text)) == {place for place in every if place >= middle}


def test_pages_of_unequal_size_and_letters_beyond_the_basic_plane(tmp_path):
    pdfmetrics.registerFont(TTFont("Serif", SERIF))

    def large(canvas):
        canvas.setPageSize((1200, 900))
        canvas.setFont("Serif", 12)
        canvas.drawString(900, 800, "naïve œuvre Ωδή")

    index = opened(tmp_path, pdf(paragraph("small"), large))
    assert index.text(0) == "small\n\nnaïve œuvre Ωδή"
    assert [index.pages(0).size(page) for page in (1, 2)] == [(612, 792), (1200, 900)]
    assert index.pages(0).of(np.array([0, 4, 6, 8])).tolist() == [1, 1, 2, 2]


@given(st.lists(st.tuples(*[st.integers(-500, 500)] * 4), min_size=1), st.integers(0, 3))
def test_boxes_of_the_file_and_of_the_page_in_view_are_exchanged_exactly(boxes, turns):
    given_boxes, frame = np.array(boxes, np.float32), (10.0, 20.0, 600.0, 700.0)
    there = pdfium.seen(given_boxes, frame, turns)
    assert pdfium.seen(there, frame, turns, back=True).tolist() == given_boxes.tolist()


def test_a_thousand_pages_are_read(tmp_path):
    index = opened(tmp_path, pdf(*([(72, 100, f"This is page {number}.")] for number in range(1, 1001))))
    assert len(index.pages(0)) == 1000
    start, end = index.pages(0).span(777)
    assert index.text(0)[start:end] == "This is page 777."


def test_without_the_compiled_part_the_same_is_read(tmp_path, monkeypatch):
    data = pdf(paragraph("To be, or", "not to be-", "long"))
    compiled = read_pdf(data, "a.pdf")
    monkeypatch.setattr(
        "focuseval.collection.pdfium._CODE", "import focuseval.engine.native as n; n.library = lambda: None"
    )

    pdfium._end()
    slow = read_pdf(data, "a.pdf")
    pdfium._end()
    assert native.library() is not None
    assert (slow.text, slow.laid.steps.tolist()) == (compiled.text, compiled.laid.steps.tolist())


def test_pages_and_blocks_are_ways_to_cut(tmp_path):
    first = [*paragraph("Tides", y=80), *paragraph("The sea rises", "twice a day.", y=120)]
    index = opened(tmp_path, pdf(first, [], paragraph("The moon pulls.")))
    cut = {how: list(chunk(index, how).texts(index)) for how in ("pages", "blocks", "blocks:2", "pages:3")}
    text = index.text(0)
    assert cut["pages"] == ["Tides\n\nThe sea rises\ntwice a day.", "The moon pulls."]
    assert cut["blocks"] == ["Tides", "The sea rises\ntwice a day.", "The moon pulls."]
    assert cut["blocks:2"] == ["Tides\n\nThe sea rises\ntwice a day.", "The moon pulls."]
    assert cut["pages:3"] == [text]
    with pytest.raises(CollectionError, match="expected a tag of the collection, found 'page'"):
        chunk({"a": "plain"}, "pages")


def test_pages_are_units_of_retrieval(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.pdf").write_bytes(pdf(paragraph("The sea rises."), paragraph("The moon pulls the sea.")))
    (tmp_path / "topics.tsv").write_text("1\tmoon\n")
    arguments = ["retrieve", str(tmp_path / "docs"), str(tmp_path / "topics.tsv"), "--unit", "page"]
    result = CliRunner().invoke(main, [*arguments, "-o", str(tmp_path / "run.jsonl")])
    assert result.exit_code == 0, result.output
    assert '"start":16,"end":39' in (tmp_path / "run.jsonl").read_text().replace(" ", "")


@pytest.mark.parametrize(
    ("data", "found"),
    [(b"no PDF", "a broken one"), (pdf(paragraph("x"))[:200], "a broken one"), (b"", "a broken one")],
)
def test_a_broken_file_is_one_line(tmp_path, data, found):
    with pytest.raises(CollectionError, match=rf"a\.pdf: expected a PDF, found {found}.*; mend the file"):
        opened(tmp_path, data)


def test_a_file_that_needs_a_password_is_one_line(tmp_path):
    canvas = Canvas(str(tmp_path / "a.pdf"), encrypt=StandardEncryption("secret", strength=128))
    canvas.drawString(72, 700, "locked")
    canvas.save()
    with pytest.raises(CollectionError, match=r"a\.pdf: expected a PDF, found one that needs a password"):
        open_documents(tmp_path / "a.pdf")


def test_an_option_that_does_not_exist_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(UsageError, match=r"found 'hyphen=keep'; did you mean hyphens=keep"):
        build_index(tmp_path, tmp_path / "x.idx", pdf="hyphen=keep")


def test_without_the_extra_pdfs_are_named_with_what_to_install():
    counted = {"passed_over": {".pdf": 2}, "first_passed_over": {".pdf": "docs/a.pdf"}}
    assert left_out(counted).startswith("not read: 2 .pdf, first docs/a.pdf; PDFs need the extra 'pdf'")
