"""What every measure promises, whoever wrote it: one test for each property, over all measures."""

import numpy as np
import pytest

from focuseval.evaluation.evaluation import evaluate
from focuseval.measures import parse
from focuseval.measures.catalogue import MEASURES
from focuseval.measures.explain import explain
from focuseval.measures.matching import match
from focuseval.measures.measure import FAMILIES, declared_in
from focuseval.measures.prepared import prepare
from focuseval.measures.profiles import DEFAULTS, PROFILES
from strategies.elements_of_articles import GOLD, PERFECT, RUNS, element_gold, element_run

ASKED = {"rank": "@3", "level": "@0.5", "characters": "@20c", "words": "@5w", "tokens": "@5t"}
NEEDS_TEXT = {"words", "tokens"}


def spellings(measure):
    """The measure with every cut-off that it takes, except those that need the documents' text."""
    cutoffs = [ASKED[kind] for kind in measure.at if kind not in NEEDS_TEXT]
    return ([] if measure.at_required else [measure.name]) + [measure.name + cutoff for cutoff in cutoffs]


OF_RELEVANCE = [one for one in MEASURES if one.base == "relevance" and "answers" not in one.needs]
"""Those that any gold and run have a value for; the others are in test_answers."""
NAMES = [name for measure in OF_RELEVANCE for name in spellings(measure)]


def grades_for(name):
    return "grades" if "grades" in parse(name).measure.needs else "highlights"


def scored(name, run, topics=None):
    gold = element_gold(grades_for(name), topics)
    return evaluate(gold, element_run(run), [name]).per_topic()["run"]


def test_the_families_name_exactly_what_they_declare():
    for family in FAMILIES:
        assert [n for one in family.measures for n in (one.name, *one.aliases)] == family.names.split(), family.title
    assert {one.name for family in FAMILIES for one in declared_in(family.module)} == {one.name for one in MEASURES}


def test_no_name_is_declared_twice():
    names = [name for measure in MEASURES for name in (measure.name, *measure.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_a_declaration_says_everything_that_help_and_documentation_need(measure):
    assert measure.summary.endswith(".")
    assert measure.cite
    assert measure.formula
    assert measure.example
    assert measure.compute.__doc__
    assert measure.bounds[0] < measure.bounds[1]
    assert measure.name in explain(measure.name)


@pytest.mark.parametrize("name", NAMES)
def test_a_printed_name_parses_back_to_itself(name):
    asked = parse(name)
    again = parse(str(asked))
    assert str(again) == str(asked)
    assert again.arguments() == asked.arguments()


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_every_choice_of_every_parameter_parses_back(measure):
    at = ASKED[measure.at[0]] if measure.at_required else ""
    for parameter in measure.parameters:
        for choice in parameter.choices or (parameter.default,):
            spelled = f"{measure.name}({parameter.name}={choice}){at}"
            assert parse(str(parse(spelled))).arguments() == parse(spelled).arguments()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("run", RUNS)
def test_no_value_leaves_the_bounds(name, run):
    low, high = parse(name).measure.bounds
    for values in scored(name, RUNS[run]).values():
        assert low <= values[name] <= high


CHOICES = [
    f"{measure.name}({parameter.name}={choice}){ASKED[measure.at[0]] if measure.at_required else ''}"
    for measure in MEASURES
    for parameter in measure.parameters
    for choice in parameter.choices
]


@pytest.mark.parametrize("name", [name for name in CHOICES if "index" not in parse(name).needs])
def test_every_choice_of_a_parameter_computes_values_within_the_bounds(name):
    low, high = parse(name).measure.bounds
    assert all(low <= values[name] <= high for values in scored(name, RUNS["mixed"]).values())


@pytest.mark.parametrize("name", NAMES)
def test_values_are_doubles(name):
    asked = parse(name)
    m = match(element_run(RUNS["mixed"]), prepare(element_gold(grades_for(name))))
    assert asked.measure.compute(m, **asked.arguments(m.policies)).dtype == np.float64


@pytest.mark.parametrize("name", [n for n in NAMES if parse(n).measure.perfect and not n.endswith("c")])  # no budget
def test_a_perfect_run_reaches_the_upper_bound(name):
    run = PERFECT[parse(name).measure.needs[0]]
    for topic, values in scored(name, run).items():
        assert values[name] == pytest.approx(parse(name).measure.bounds[1]), topic


@pytest.mark.parametrize("name", NAMES)
def test_a_run_that_answers_nothing_scores_zero(name):
    if parse(name).measure.name == "xCI":
        pytest.skip("xCI is a reference that does not depend on the run")
    for values in scored(name, {}).values():
        assert values[name] == 0


@pytest.mark.parametrize("name", NAMES)
def test_another_topic_changes_no_value(name):
    if not parse(name).measure.topicwise:
        pytest.skip("depends, by definition, on the chunks or article lengths of the whole collection")
    run = RUNS["mixed"]
    alone = scored(name, run, topics=["t2"])
    assert alone["t2"] == scored(name, run)["t2"]


@pytest.mark.parametrize("name", NAMES)
def test_a_topic_without_relevance_scores_zero_if_asked_to_and_changes_no_other(name):
    gold = element_gold(grades_for(name), [*GOLD, "t4"])
    run = element_run({**RUNS["mixed"], "t4": [("d1", "/a[1]"), ("d2", "/a[1]/s[1]")]})
    skipped, counted = (evaluate(gold, run, [name], empty_topics=how).per_topic()["run"] for how in ("skip", "zero"))
    # one of its two results was judged, whatever is relevant
    assert counted.pop("t4")[name] == (0.5 if parse(name).measure.name == "Judged" else 0)
    assert counted == skipped


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_topics_changes_no_value(name):
    run = RUNS["mixed"]
    turned = dict(reversed(run.items()))
    assert scored(name, turned, topics=list(reversed(GOLD))) == scored(name, run)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_every_measure_of_a_profile_parses_and_prints_canonically(profile):
    for names in profile.tasks.values():
        assert [str(parse(name)) for name in names] == list(names)


@pytest.mark.parametrize("names", DEFAULTS.values(), ids=list(DEFAULTS))
def test_default_measures_parse_and_print_canonically(names):
    assert [str(parse(name)) for name in names] == list(names)


def test_the_collection_of_these_tests_has_overlap_repeats_and_unjudged_results():
    scores = evaluate(element_gold("highlights"), element_run(RUNS["mixed"]), ["charP"])
    assert scores.counts[0].unjudged > 0
