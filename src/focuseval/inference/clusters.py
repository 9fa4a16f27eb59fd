"""Topics in clusters, such as questions about the same document: what is drawn, flipped and counted as one.

Questions about one document are easy or hard together. A test that takes each of them for a sample of its own calls too
many differences significant. So signs are flipped, and resamples drawn, by cluster; a standard error is the
cluster-robust one (CR2 of Bell and McCaffrey 2002), with the degrees of freedom of Satterthwaite for topics that are as
alike within clusters as these (Imbens and Kolesár 2016). Without clusters, or where each topic is one by itself, all of
this is what it is over topics: the mean's own standard error, n − 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from focuseval.data.gold import Gold
from focuseval.errors import MissingDataError

Matrix = NDArray[np.float64]
By = str | Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of every topic."""

    by: str  # what makes topics a cluster: ``document``, ``tag:NAME``, or a field of the gold
    code: NDArray[np.int64]  # of every topic, from 0
    alone: int = 0  # topics that name no cluster: each is one by itself

    @cached_property
    def sizes(self) -> Matrix:
        """How many topics each has."""
        return np.bincount(self.code).astype(np.float64)

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.sizes)

    def take(self, topics: NDArray[np.integer] | NDArray[np.bool_]) -> Clusters:
        """Return the clusters of some of the topics."""
        return replace(self, code=np.unique(self.code[topics], return_inverse=True)[1].reshape(-1))

    def sums(self, values: Matrix) -> Matrix:
        """Add up every row over the topics of each cluster.

        >>> Clusters("document", np.array([0, 1, 0])).sums(np.array([[1.0, 2.0, 3.0]])).tolist()
        [[4.0, 2.0]]
        """
        order = np.argsort(self.code, kind="stable")
        return np.add.reduceat(values[:, order], np.searchsorted(self.code[order], np.arange(self.number)), axis=1)


def shares_documents(gold: Gold) -> bool:
    """Whether most judgements of relevance are of documents that are relevant to several topics."""
    document = gold.articles.document[gold.articles.relevance > 0]
    topics = np.bincount(document, minlength=1)
    return bool(2 * topics[topics > 1].sum() > len(document))


def cluster_topics(gold: Gold, topics: Sequence[str], by: By) -> Clusters:
    """Return the clusters of some topics of a gold.

    Parameters
    ----------
    by
        ``document``: topics that share a relevant document, be it through others. ``tag:NAME``: by the tag that begins
        with ``NAME:`` or ``NAME=``. Any other word: a field of the gold's topics, such as ``group``. Or a mapping from
        topics to the names of their clusters. A topic without a cluster is one by itself.
    """
    number = {topic: place for place, topic in enumerate(topics)}
    if by == "document":
        from scipy.sparse import csgraph, csr_array  # noqa: PLC0415  only clusters by document need it

        place = np.array([number.get(topic, -1) for topic in gold.topics] or [-1])
        found = gold.articles.relevance > 0
        row, document = place[gold.articles.topic[found]], gold.articles.document[found]
        known, size = row >= 0, len(topics) + len(gold.documents)
        ends = row[known], document[known] + len(topics)
        graph = csr_array((np.ones(len(ends[0]), np.int8), ends), shape=(size, size))
        whole = Clusters(by, csgraph.connected_components(graph, directed=False)[1].astype(np.int64))
        return whole.take(np.arange(len(topics)))
    named: list[str | None]
    if isinstance(by, str) and by.startswith("tag:"):
        starts = tuple(by[4:] + sign for sign in ":=")
        tags = (gold.attributes.get(topic, {}).get("tags", "").split(",") for topic in topics)
        named = [next((tag for tag in own if tag.startswith(starts)), None) for own in tags]
    elif isinstance(by, str):
        named = [gold.attributes.get(topic, {}).get(by) or None for topic in topics]
    else:
        named, by = [by.get(topic) for topic in topics], "mapping"
    if not any(name is not None for name in named):
        fields = sorted({"document", *(field for own in gold.attributes.values() for field in own if field != "tags")})
        what = f"no topic of {gold.file or 'the gold'} has a cluster by {by!r}"
        raise MissingDataError(f"{what}; there are {', '.join(fields)}, and tag:NAME for tags such as NAME:value")
    codes: dict[object, int] = {}
    keys = [(topic,) if name is None else name for topic, name in zip(topics, named, strict=True)]
    code = np.array([codes.setdefault(key, len(codes)) for key in keys], np.int64)
    return Clusters(by, code, sum(name is None for name in named))


def standard_error(values: Matrix, clusters: Clusters | None = None) -> tuple[Matrix, Matrix, Matrix]:
    r"""Return the mean of every row, its standard error, and the degrees of freedom of the latter.

    .. math:: se^2 = \frac{1}{N^2} \sum_g \frac{(S_g - n_g \bar d)^2}{1 - n_g / N}

    S is a cluster's sum and n its topics, N all of them. Clusters of one size have as many degrees of freedom as there
    are, less one. A single cluster has no error that could be known: it is 0, of 0 degrees of freedom.

    >>> mean, error, freedom = standard_error(np.array([[1.0, 2.0, 6.0]]))
    >>> mean.tolist(), error.round(4).tolist(), freedom.tolist()
    ([3.0], [1.5275], [2.0])
    """
    mean, topics = values.mean(axis=1), values.shape[1]
    sums, sizes = (values, np.ones(topics)) if clusters is None else (clusters.sums(values), clusters.sizes)
    if len(sizes) < 2:
        return mean, np.zeros(len(values)), np.zeros(len(values))
    scale = 1 / (1 - sizes / topics)
    error = np.sqrt(((sums - sizes * mean[:, None]) ** 2) @ scale) / topics
    if clusters is None or np.ptp(sizes) == 0:
        return mean, error, np.full(len(values), len(sizes) - 1.0)
    # how alike the topics of a cluster are, from 0 to 1, by the analysis of variance
    number, by_cluster = len(sizes), (sums**2 / sizes).sum(axis=1)
    between = (by_cluster - topics * mean**2) / (number - 1)
    inside = ((values**2).sum(axis=1) - by_cluster) / (topics - number)
    below = between + ((topics - (sizes**2).sum() / topics) / (number - 1) - 1) * inside
    alike = np.divide(between - inside, below, out=np.zeros(len(values)), where=below > 0).clip(0.0, 1.0)[:, None]
    variance = (1 - alike) * sizes + alike * sizes**2  # of a cluster's sum, up to a factor
    total, whole = variance.sum(axis=1), (scale * sizes**2).sum()
    mixed, own = variance @ (scale * sizes), variance**2 @ scale
    cross = sizes**2 * (total / topics**2)[:, None] - 2 * sizes * variance / topics
    expected = (variance + cross) @ scale
    square = (2 * whole * own + 2 * mixed**2) / topics**2 - 4 * whole * mixed * total / topics**3
    square += (whole * total / topics**2) ** 2 + (variance**2 + 2 * variance * cross) @ scale**2
    return mean, error, np.round(expected**2 / square, 9)
