"""Runs → which documents to judge, and in which order.

A pool takes the first documents of every run: all down to a depth, or rank by rank in turn until there are enough.
"""

from focuseval.assessment.pool.build import build_pool
from focuseval.assessment.pool.files import read_pool, write_pool
from focuseval.assessment.pool.model import ORDERS, Contributor, Entry, Pool
from focuseval.assessment.pool.statistics import PoolStatistics, describe_pool

__all__ = [
    "ORDERS",
    "Contributor",
    "Entry",
    "Pool",
    "PoolStatistics",
    "build_pool",
    "describe_pool",
    "read_pool",
    "write_pool",
]
