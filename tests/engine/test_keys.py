"""The hash table finds what a dictionary finds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from focuseval.engine.keys import Lookup

KEYS = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 40), max_size=60)


@given(KEYS, KEYS)
def test_a_key_leads_to_its_first_row(keys, asked):
    first = {}
    for row, key in enumerate(keys):
        first.setdefault(key, row)
    found = Lookup(np.array(keys, np.int64)).find(np.array(asked + keys, np.int64))
    assert found.tolist() == [first.get(key, -1) for key in asked + keys]


def test_many_keys_that_start_at_one_slot_are_all_found():
    keys = np.arange(5000, dtype=np.int64) << 52
    assert Lookup(keys).find(keys[::-1]).tolist() == Lookup(keys).find(keys).tolist()[::-1]
