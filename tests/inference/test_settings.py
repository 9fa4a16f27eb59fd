"""How differences are judged: defaults, the papers' test, and what is refused."""

import numpy as np
import pytest

from focuseval.errors import MeasureError
from focuseval.inference.intervals import interval
from focuseval.inference.settings import Settings, settings_of


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"test": "x"}, "expected a test among randomisation, studentised, bootstrap, t, wilcoxon, sign, found 'x'"),
        ({"correction": "x"}, "expected a correction among none, holm, bh, found 'x'"),
        ({"tails": 0}, "expected 1 or 2 tails, found 0"),
        ({"tails": 3}, "expected 1 or 2 tails, found 3"),
        ({"resamples": 0}, "expected 1 to 1000000 resamples, found 0"),
        ({"resamples": 1_000_001}, "expected 1 to 1000000 resamples, found 1000001"),
        ({"alpha": 5}, "expected a level alpha between 0 and 1, found 5"),
        ({"alpha": 0}, "expected a level alpha between 0 and 1, found 0"),
        ({"alpha": 1}, "expected a level alpha between 0 and 1, found 1"),
        ({"alpha": float("nan")}, "expected a level alpha between 0 and 1, found nan"),
        ({"seed": -1}, "expected a seed of 0 or more, found -1"),
    ],
)
def test_settings_refuse_what_does_not_exist(wrong, told):
    with pytest.raises(MeasureError) as caught:
        Settings(**wrong)
    assert str(caught.value) == told


def test_the_limits_themselves_are_allowed():
    assert Settings(resamples=1).draws(1) == 40
    assert Settings(resamples=1_000_000).draws(1) == 1_000_000


def test_an_interval_is_never_made_of_fewer_than_a_thousand_resamples():
    values = np.random.default_rng(0).random((1, 12))
    few, least, more = (
        interval(values, Settings(resamples=resamples, interval="bca")) for resamples in (1, 1000, 5000)
    )
    assert few == least
    assert more != least


def test_by_default_differences_are_judged_two_tailed_by_randomisation_with_holms_correction():
    assert settings_of() == Settings() == Settings("randomisation", 2, 10_000, 0.05, "holm", 0)


def test_the_one_tailed_bootstrap_is_the_papers_unless_told_otherwise():
    """Kamps, Lalmas and Pehcevski (SIGIR 2007): "one-tailed at significance level 0.05 over 1,000 resamples"."""
    papers = Settings("bootstrap", 1, 1000, 0.05, "none", 0)
    assert settings_of(test="bootstrap", tails=1, resamples=None, correction=None) == papers
    assert settings_of(test="bootstrap", tails=1, correction="holm").correction == "holm"
    assert settings_of(test="bootstrap", tails=1, resamples=7).resamples == 7
    for other in ({"test": "bootstrap"}, {"tails": 1}, {"test": "bootstrap", "tails": 2}):
        assert (settings_of(**other).resamples, settings_of(**other).correction) == (10_000, "holm")


@pytest.mark.parametrize(
    ("made", "more", "said"),
    [
        (Settings("bootstrap", 1, 1), {}, "bootstrap, one-tailed at 0.05, 1 resamples, seed 0, Holm"),
        (Settings(seed=4), {}, "randomisation, two-tailed at 0.05, 10000 resamples, seed 4, Holm"),
        (
            Settings(),
            {"exact": True, "family": "2 pairs"},
            "randomisation, two-tailed at 0.05, exact, Holm over 2 pairs",
        ),
        (Settings("t", alpha=0.01, correction="bh"), {}, "t, two-tailed at 0.01, Benjamini–Hochberg"),
        (Settings("sign", tails=1, correction="none"), {}, "sign, one-tailed at 0.05, uncorrected"),
    ],
)
def test_settings_say_what_was_done(made, more, said):
    assert made.words(**more) == said
    assert more or str(made) == said
