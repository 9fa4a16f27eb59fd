"""``focuseval.testing`` of 0.2.0, now `focuseval.bridges.testing`."""

from focuseval.bridges.testing import assert_no_regression as assert_no_regression
