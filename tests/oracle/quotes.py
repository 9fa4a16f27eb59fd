"""Slow and obvious: is a quotation put together from two pieces of some documents?"""

from focuseval.placing.normalise import normal_form


def is_two_pieces(text, documents, least, words):
    """Try every cut at a blank."""
    form, forms = normal_form(text.strip(" .,;:…")), [normal_form(document) for document in documents]
    tokens = form.split(" ")
    for cut in range(1, len(tokens)):
        pieces = [" ".join(some).strip(" .,;:…") for some in (tokens[:cut], tokens[cut:])]
        long = all(len(piece) >= least and len(piece.split()) >= words for piece in pieces)
        if long and all(any(piece in document for document in forms) for piece in pieces):
            return True
    return False
