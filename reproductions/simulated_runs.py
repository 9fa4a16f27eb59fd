"""Simulated runs: the S×R space of Pehcevski and Thom (2007), the requirements of Kazai and Lalmas (2005).

The paper scores 20 runs, made of the assessments of INEX 2006, whose order is known beforehand. Those assessments are
not at hand; the same runs are made here of the PLOS articles (`reproductions.plos_gold`) and of the embedded example.
A step from one run to the next is *better*, *equal* or *worse* where the difference is significant by a paired t-test
(.05), which the paper's p-values fit, and *undecided* elsewhere. Directions come from the counts of topics: the signs
that the paper prints before its percentages are not consistent.
"""

import focuseval as fe
from focuseval.data.tables import Table
from focuseval.example import ROOT
from focuseval.studies.fidelity import Outcome, recall_base_table, space_test
from focuseval.studies.requirements import requirements
from reproductions import plos_gold
from reproductions.data import Missing
from reproductions.published import compared, verdict

SPACE = "Pehcevski and Thom (2007), Evaluating focused retrieval tasks, the S-R space under {}"
NEEDS = "Kazai and Lalmas (2005), Notes on what to measure in INEX, page 14: metrics and requirements"
MEASURES = {"AgP": "MAgP", "AgP'": "MAgP(gain=length)"}
PUBLISHED = """\
S-R S_L-R            112 2 0 2.2e-16   112 2 0 2.2e-16
S-R S_S-R            112 2 0 2.2e-16   112 2 0 2.2e-16
S-R S-R_S            0 114 0 1         0 114 0 1
S-R S-R_I            114 0 0 2.2e-16   114 0 0 2.2e-16
S_L-R S_LD-R         113 1 0 2.2e-16   113 1 0 2.2e-16
S_L-R S_L-R_S        52 13 49 0.6023   52 13 49 0.2962
S_L-R S_L-R_I        114 0 0 2.2e-16   114 0 0 2.2e-16
S_S-R S_ST-R         114 0 0 2.2e-16   114 0 0 2.2e-16
S_S-R S_S-R_S        43 29 42 0.4146   43 29 42 0.0963
S_S-R S_S-R_I        114 0 0 2.2e-16   114 0 0 2.2e-16
S-R_S S_L-R_S        112 2 0 2.2e-16   112 2 0 2.2e-16
S-R_S S_S-R_S        112 2 0 2.2e-16   112 2 0 2.2e-16
S-R_S S-R_SI         114 0 0 2.2e-16   114 0 0 2.2e-16
S-R_I S_L-R_I        112 2 0 2.2e-16   112 2 0 2.2e-16
S-R_I S_S-R_I        112 2 0 2.2e-16   112 2 0 2.2e-16
S-R_I S-R_SI         0 114 0 1         0 0 114 5.9e-13
S_LD-R S_LD-R_S      67 8 39 0.0004    67 8 39 5.9e-05
S_LD-R S_LD-R_I      114 0 0 2.2e-16   114 0 0 2.2e-16
S_L-R_S S_LD-R_S     113 1 0 2.2e-16   113 1 0 2.2e-16
S_L-R_S S_L-R_SI     114 0 0 2.2e-16   114 0 0 2.2e-16
S_L-R_I S_LD-R_I     113 1 0 2.2e-16   113 1 0 2.2e-16
S_L-R_I S_L-R_SI     52 13 49 0.6023   25 0 89 2.4e-06
S_ST-R S_ST-R_S      60 0 54 0.4904    60 0 54 0.2141
S_ST-R S_ST-R_I      114 0 0 2.2e-16   114 0 0 2.2e-16
S_S-R_S S_ST-R_S     114 0 0 2.2e-16   114 0 0 2.2e-16
S_S-R_S S_S-R_SI     114 0 0 2.2e-16   114 0 0 2.2e-16
S_S-R_I S_ST-R_I     114 0 0 2.2e-16   114 0 0 2.2e-16
S_S-R_I S_S-R_SI     43 29 42 0.4146   12 0 102 1.9e-09
S-R_SI S_L-R_SI      112 2 0 2.2e-16   112 2 0 2.2e-16
S-R_SI S_S-R_SI      112 2 0 2.2e-16   112 2 0 2.2e-16
S_LD-R_S S_LD-R_SI   114 0 0 2.2e-16   114 0 0 2.2e-16
S_LD-R_I S_LD-R_SI   67 8 39 0.0004    46 0 68 0.8790
S_L-R_SI S_LD-R_SI   113 1 0 2.2e-16   113 1 0 2.2e-16
S_ST-R_S S_ST-R_SI   114 0 0 2.2e-16   114 0 0 2.2e-16
S_ST-R_I S_ST-R_SI   60 0 54 0.4896    48 0 66 0.0189
S_S-R_SI S_ST-R_SI   114 0 0 2.2e-16   114 0 0 2.2e-16
"""
"""Two runs; then under AgP and AgP' the topics on which the first is better, equal and worse, and p."""
REQUIREMENTS = (
    ("element size", "no", "yes", "indirectly", "no"),
    ("ideal recall base", "no", "indirectly", "yes", "yes"),
    ("near misses", "no", "indirectly", "yes", "yes"),
    ("overlap", "no", "yes", "yes", "yes"),
    ("linear output", "yes", "yes", "yes", "yes"),
    ("grouped output", "no", "no", "no", "no"),
    ("two dimensions", "yes", "yes", "yes", "yes"),
    ("degrees of relevance", "no", "no", "yes", "no"),
    ("normalisation", "no", "no", "yes", "no"),
)
METRICS = {"i2": "i2AP(quant=gen)", "i3": "i3AP(quant=gen)", "XCG": "nxCG@10", "PRUM": "PRUM"}
REASONS = {
    ("i3", "ideal recall base"): "its ideal concept space is a model, no list of elements",
    ("i2", "near misses"): "an element around the right one is in the recall base, and gains",
    ("i3", "near misses"): "an element around the right one is in the recall base, and gains",
    ("PRUM", "near misses"): "a near miss counts in full where the user finds the ideal element from it",
    ("PRUM", "two dimensions"): "ours takes specificity only",
    ("i3", "degrees of relevance"): "both of its scales enter its value",
    ("PRUM", "normalisation"): "the ideal run reaches 1",
}


def outcome(greater: int, less: int, p: float) -> str:
    """Return what a step shows.

    >>> outcome(5, 1, 0.01), outcome(0, 0, 1.0), outcome(3, 3, 0.4)
    ('better', 'equal', 'undecided')
    """
    if not greater and not less:
        return "equal"
    if p > 0.05:
        return "undecided"
    return "better" if greater > less else "worse"


def published() -> dict[str, dict[tuple[str, str], tuple[str, str]]]:
    """Return, for both measures of the paper, the counts of every step and what they show."""
    found: dict[str, dict[tuple[str, str], tuple[str, str]]] = {name: {} for name in MEASURES}
    for line in PUBLISHED.splitlines():
        first, second, *figures = line.split()
        for name, (greater, equal, less, p) in zip(MEASURES, (figures[:4], figures[4:]), strict=True):
            shown = outcome(int(greater), int(less), float(p))
            found[name][first, second] = f"{greater} / {equal} / {less}", shown
    return found


def ours(gold: fe.Gold, index: fe.Index) -> dict[str, dict[tuple[str, str], Outcome]]:
    """Return the same for a gold of ours."""
    test = space_test(gold, list(MEASURES.values()), index)
    return {
        name: {(found.step.first, found.step.second): found for found in steps}
        for name, steps in zip(MEASURES, test.outcomes.values(), strict=True)
    }


def counts(found: Outcome) -> tuple[str, str]:
    """Return topics better, equal and worse, and what they show."""
    numbers = found.greater, found.equal, found.less
    return " / ".join(map(str, numbers)), outcome(found.greater, found.less, found.p)


def embedded() -> tuple[fe.Gold, fe.Index]:
    """Return the embedded example."""
    index = fe.open_documents(ROOT / "articles")
    return fe.read_gold(ROOT / "gold" / "gold.jsonl", index=index), index


def space_table(name: str, articles: dict[str, dict[tuple[str, str], Outcome]]) -> Table:
    """Return the 36 steps of the space under one measure."""
    rows = []
    for step, (figures, shown) in published()[name].items():
        mine, found = counts(articles[name][step])
        rows.append(
            (" → ".join(step), figures, shown, mine, found, verdict(shown, found, "25 topics of other judgements"))
        )
    heads = ("step", "published", "shows", "ours", "shows", "verdict")
    note = "Topics on which the first run is better / equal / worse: 114 of INEX 2006, ours of the PLOS articles."
    return compared(SPACE.format(name), heads, rows, (note,))


def example_table(example: dict[str, dict[tuple[str, str], Outcome]]) -> Table:
    """Return how many decided steps of the paper have the same direction on the embedded example."""
    rows = []
    for name, steps in published().items():
        decided = {step: shown for step, (_, shown) in steps.items() if shown != "undecided"}
        same = sum(_direction(example[name][step]) == shown for step, shown in decided.items())
        rows.append((name, str(len(decided)), str(same), verdict(str(len(decided)), str(same))))
    heads = ("measure", "steps decided in the paper", "same direction in the example", "verdict")
    return compared("The same space on the embedded example (6 topics)", heads, rows)


def _direction(found: Outcome) -> str:
    """Return the direction of a step, whether significant or not: six topics decide little."""
    if not found.greater and not found.less:
        return "equal"
    return "better" if found.difference > 0 else "worse"


def requirements_table() -> Table:
    """Return what each metric takes into account, as published and as observed by running it."""
    answers = {name: {a.requirement: a.answer for a in requirements(measure)} for name, measure in METRICS.items()}
    rows = [
        (
            name,
            requirement,
            says,
            answers[name][requirement],
            verdict(says, answers[name][requirement], _why(name, requirement)),
        )
        for requirement, *said in REQUIREMENTS
        for name, says in zip(METRICS, said, strict=True)
    ]
    note = (
        "Ours run the measure on constructed cases; 'ideal recall base', 'grouped output' and 'two dimensions' are "
        "declared. The reasons are our reading of the definitions."
    )
    return compared(NEEDS, ("metric", "requirement", "published", "ours", "verdict"), rows, (note,))


def _why(name: str, requirement: str) -> str:
    return REASONS.get((name, requirement), "")


def tables() -> list[Table]:
    """Return the spaces, the requirements, and the runs of the recall base."""
    found = [example_table(ours(*embedded())), requirements_table()]
    found.append(recall_base_table(fe.fidelity(*embedded()[:1], index=embedded()[1])))
    try:
        articles = ours(plos_gold.gold(), plos_gold.index())
    except Missing:
        return found
    return [*(space_table(name, articles) for name in MEASURES), *found]
