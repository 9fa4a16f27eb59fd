"""Topics of every year, and NEXI, the language of their structured titles."""

from focuseval.topics.matching import IEEE_EQUIVALENTS, Reading
from focuseval.topics.parser import parse_nexi
from focuseval.topics.query import Query
from focuseval.topics.reader import parse_topics, read_topic_bytes, read_topics
from focuseval.topics.terms import Term, parse_terms
from focuseval.topics.topic import KINDS, Topic

__all__ = [
    "IEEE_EQUIVALENTS",
    "KINDS",
    "Query",
    "Reading",
    "Term",
    "Topic",
    "parse_nexi",
    "parse_terms",
    "parse_topics",
    "read_topic_bytes",
    "read_topics",
]
