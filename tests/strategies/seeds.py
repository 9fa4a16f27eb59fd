"""Seeds for scipy's functions that draw."""

import inspect

import numpy as np


def scipys_seed(function, seed):
    """A generator under the name that the function has for it: ``rng`` from scipy 1.15 on, ``random_state`` before."""
    name = "rng" if "rng" in inspect.signature(function).parameters else "random_state"
    return {name: np.random.default_rng(seed)}
