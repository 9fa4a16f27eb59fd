"""Topics of every year, and NEXI, the language of their structured titles."""

from focuseval.data.topics.parser import parse_nexi
from focuseval.data.topics.reader import parse_topics, read_topics
from focuseval.data.topics.syntax import IEEE_EQUIVALENTS, Query, Term, parse_terms
from focuseval.data.topics.topic import Topic

__all__ = ["IEEE_EQUIVALENTS", "Query", "Term", "Topic", "parse_nexi", "parse_terms", "parse_topics", "read_topics"]
