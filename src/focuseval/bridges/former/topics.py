"""``focuseval.topics`` of 0.2.0, now `focuseval.data.topics`."""

from focuseval.data.topics import parse_nexi as parse_nexi
