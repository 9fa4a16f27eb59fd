"""HiXEval from sizes alone: appendix B of Pehcevski and Thom (2007) as it stands there, and the same from passages."""

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from building import gold_of, run_of
from focuseval.cli import main
from focuseval.errors import MissingDataError
from focuseval.measures.characters import hix_average_precision, hix_f, hix_precision, hix_recall
from focuseval.measures.matching import match
from focuseval.measures.prepared import prepare
from strategies.element_runs import Case

BODY = "/article[1]/bdy[1]"
FIRST = {f"{BODY}/sec[1]": 99} | {f"{BODY}/sec[1]/p[{i}]": 33 for i in (1, 2, 3)}
BOTH = FIRST | {f"{BODY}/sec[2]": 99}
A, B = ([f"{BODY}/{step}[{i}]" for i in (1, 2, 3)] for step in ("sec", "sec[1]/p"))


def of_sizes(paths, results):
    """The match of a gold that says ``size="n" rsize="m"`` of some paths and nothing else."""
    sizes = {path: size if isinstance(size, tuple) else (size, size) for path, size in paths.items()}
    assessments = {("t1", "d1", path): (2, -1, *size) for path, size in sizes.items()}
    return Case("highlights", "spec", assessments, {"t1": [("d1", path) for path in results]}).matched()


def values(m, at):
    return [*(float(measure(m, at)[0]) for measure in (hix_precision, hix_recall, hix_f)), hix_average_precision(m)[0]]


@pytest.mark.parametrize(
    ("gold", "results", "printed"),
    [
        (FIRST, A, (0.33, 1.00, 0.50, 1.00)),
        (FIRST, B, (1.00, 1.00, 1.00, 1.00)),
        (BOTH, A, (0.67, 1.00, 0.80, 1.00)),
        (BOTH, B, (1.00, 0.50, 0.67, 0.50)),
    ],
    ids=["scenario 1, system A", "scenario 1, system B", "scenario 2, system A", "scenario 2, system B"],
)
def test_the_lines_of_appendix_b_give_its_sixteen_values(gold, results, printed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    elements = "".join(f'<element path="{path}" size="{size}" rsize="{size}"/>' for path, size in gold.items())
    lines = "".join(
        f"<result><file>a</file><path>{p}</path><rank>{r}</rank></result>" for r, p in enumerate(results, 1)
    )
    (tmp_path / "gold.xml").write_text(
        f'<assessments pool="1" topic="1"><file collection="wiki" name="a">{elements}</file></assessments>'
    )
    (tmp_path / "run.xml").write_text(
        f'<inex-submission run-id="r"><topic topic-id="1">{lines}</topic></inex-submission>'
    )
    asked = [word for measure in ("hP@3", "hR@3", "hF@3", "hAP") for word in ("-m", measure)]
    done = CliRunner().invoke(main, ["score", "gold.xml", "run.xml", *asked, "--format", "csv"])
    found = done.stdout.splitlines()[1].split(",")[1:5]
    assert [round(float(value), 2) for value in found] == list(printed)


@st.composite
def documents(draw):
    """A tree of spans over up to 30 characters (path → start, end), and the characters that are highlighted."""
    spans = {}

    def grow(path, start, depth):
        spans[path] = (start, start)
        end = start + draw(st.integers(1, 3))
        for child in range(1, 1 + (draw(st.integers(0, 3)) if depth < 3 else 0)):
            end = grow(f"{path}/s[{child}]", end, depth + 1) + draw(st.integers(0, 1))
        spans[path] = (start, end)
        return end

    length = grow("/a[1]", 0, 0)
    highlighted = draw(st.sets(st.integers(0, length - 1), min_size=1))
    return spans, length, highlighted, draw(st.lists(st.sampled_from(sorted(spans)), max_size=8))


@given(documents(), st.integers(1, 9))
def test_sizes_give_what_passages_give(document, k):
    spans, length, highlighted, results = document
    sizes = {path: (end - start, len(highlighted & set(range(start, end)))) for path, (start, end) in spans.items()}
    m = of_sizes({path: size for path, size in sizes.items() if size[1]}, results)
    passages = gold_of({"t1": {"d1": {"length": length, "spans": [(c, c + 1) for c in sorted(highlighted)]}}})
    twin = match(run_of({"t1": [("d1", *spans[path]) for path in results]}), prepare(passages))
    assert values(m, k) == pytest.approx(values(twin, k))


def test_what_the_sizes_do_not_tell_is_refused_by_name():
    told = "holds highlighted text, and the gold does not say how much; give a gold with passages, and index="
    for path in ("/article[1]", f"{BODY}/sec[1]/p[4]", f"{BODY}/sec[1]/p[1]/b[1]/i[2]"):
        with pytest.raises(MissingDataError) as caught:
            hix_average_precision(of_sizes(FIRST, [path]))
        assert str(caught.value) == f"run: d1, {path} {told}"
    partly = {f"{BODY}/sec[1]": (99, 50), f"{BODY}/sec[1]/p[1]": (50, 50)}
    other = of_sizes(partly, [f"{BODY}/sec[1]/p[2]", f"{BODY}/sec[1]"])  # not named, so nothing of it is highlighted
    assert values(other, 2) == pytest.approx([50 / 99 / 2, 1, 2 * (50 / 198) / (1 + 50 / 198), 50 / 198])
    again = of_sizes(FIRST, [A[0], A[0], B[0]])
    assert values(again, 3) == pytest.approx([1 / 3, 1, 1 / 2, 1])
