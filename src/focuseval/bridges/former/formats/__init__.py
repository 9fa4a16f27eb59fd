"""Modules of `focuseval.formats` of 0.2.0 whose content is in others now; `focuseval.formats` looks for them here."""
