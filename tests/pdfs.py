"""PDFs that tests make from known text."""

import io

from reportlab.lib.pagesizes import letter
from reportlab.pdfgen.canvas import Canvas


def pdf(*pages, size=letter, turn=0, crop=None, font="Helvetica", points=12):
    """Return a PDF: of every page the lines to draw, each (x, y from the top, text), or a function of the canvas."""
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=size, invariant=1)
    for page in pages:
        canvas.setPageRotation(turn)
        if crop:
            canvas.setCropBox(crop)
        canvas.setFont(font, points)
        if callable(page):
            page(canvas)
        else:
            for x, y, text in page:
                canvas.drawString(x, canvas._pagesize[1] - y, text)
        canvas.showPage()
    canvas.save()
    return target.getvalue()


def paragraph(*lines, x=72, y=100, leading=14.4):
    """Return lines that stand below each other."""
    return [(x, y + number * leading, line) for number, line in enumerate(lines)]
