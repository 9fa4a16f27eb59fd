"""A plugin of pytest, loaded by itself where focuseval is installed: retrieval that got worse fails a test.

A marker says what `focuseval.assert_no_regression` is to compare, and a fixture takes the run::

    @pytest.mark.focuseval("baseline.json", "gold.jsonl", "spanR@5", docs="docs/", max_lost="75%")
    def test_retrieval_did_not_get_worse(focuseval_gate):
        focuseval_gate(retrieve())  # a path, a frame, a list of dictionaries, a run

The test fails with the sentence of ``focuseval gate``, without a traceback. ``pytest --focuseval-update`` writes what
such tests retrieve as their baselines and judges nothing. Every pytest imports this module, so it imports next to none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from focuseval.bridges.testing import assert_no_regression

if TYPE_CHECKING:  # every pytest loads this module
    from focuseval.inference.regression import GateVerdict

_MARKER = (
    "focuseval(baseline, gold, measures, **options): what the fixture focuseval_gate compares a run with, as "
    "focuseval.assert_no_regression takes it."
)
_UPDATE = "Write what tests with the fixture focuseval_gate retrieve as their baselines, and judge nothing."
_RULE = tuple(inspect.signature(assert_no_regression).parameters)[4:-1]
"""Arguments that say how a verdict is reached, not what is evaluated."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes baselines."""
    parser.getgroup("focuseval").addoption("--focuseval-update", action="store_true", help=_UPDATE)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture
def focuseval_gate(request: pytest.FixtureRequest) -> Callable[..., list[GateVerdict]]:
    """Give a function that fails the test if a run is worse than the baseline of the marker ``focuseval``.

    Arguments behind the run replace those of the marker.
    """
    marker = request.node.get_closest_marker("focuseval")
    names = ("baseline", "gold", "measures")
    given = dict(zip(names, marker.args, strict=False)) | marker.kwargs if marker else {}

    def judge(run: Any, **more: Any) -> list[GateVerdict]:
        options = given | more
        if absent := [name for name in names if name not in options]:
            pytest.fail(f"focuseval: give {', '.join(absent)} in the marker or to focuseval_gate", pytrace=False)
        if request.config.getoption("--focuseval-update"):
            from focuseval.evaluation.evaluation import evaluate  # noqa: PLC0415  most tests of others need none of it
            from focuseval.evaluation.gate import write_baseline  # noqa: PLC0415  as above

            asked = {name: value for name, value in options.items() if name not in {*names, *_RULE}}
            write_baseline(evaluate(options["gold"], [run], options["measures"], **asked), options["baseline"])
            return []
        try:
            return assert_no_regression(run=run, **options)
        except AssertionError as error:
            sentence = str(error).rstrip("\n")
        pytest.fail(sentence, pytrace=False)

    return judge
