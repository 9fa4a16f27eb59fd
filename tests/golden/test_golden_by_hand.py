"""Small collections worked out by hand from the formulas of MEASURES.md §3–§8, from files to printed scores.

Text: d1 (1000 characters) is highlighted at 100–200 and 300–350 and entered best at 100, d2 (2000) at 0–400 and 0, d3
(3000) not at all; so Trel = 550 and L = 2000. Elements: a1's section (gain .8) holds two paragraphs (gains 1 and 2/3)
and is held by the article (.4); a2 and its one paragraph gain 1. The ideal base is a2 and the section.
"""

import json

import pytest
from click.testing import CliRunner

from focuseval.cli import main

TEXT = """\
1 Q0 d1 150 1000 100 100:100 300:50
1 Q0 d2 400 2000 0 0:400
1 Q0 d3 0 3000
"""
ELEMENTS = """\
<assessments pool="7" topic="1"><file collection="wiki" name="a1">
<element path="/article[1]" exhaustivity="2" size="100" rsize="40"/>
<element path="/article[1]/sec[1]" exhaustivity="2" size="50" rsize="40"/>
<element path="/article[1]/sec[1]/p[1]" exhaustivity="2" size="20" rsize="20"/>
<element path="/article[1]/sec[1]/p[2]" exhaustivity="2" size="30" rsize="20"/></file>
<file collection="wiki" name="a2"><element path="/article[1]" exhaustivity="2" size="10" rsize="10"/>
<element path="/article[1]/p[1]" exhaustivity="2" size="10" rsize="10"/></file></assessments>
"""
IN_CONTEXT = ("d1 1 3 R 100 150", "d3 2 2 R 0 100", "d2 3 1 R 100 200")
ENTRY_POINTS = ("d1 1 3 R 150", "d3 2 2 R 0", "d2 3 1 R 0")
PASSAGES = ("d1 1 3 R 100 150", "d1 2 2 R 200 150", "d2 3 1 R 0 500")
PATHS = tuple(
    f"{document} {rank} {5 - rank} R /article[1]{path}"
    for rank, (document, path) in enumerate(
        (("a1", "/sec[1]/p[1]"), ("a1", "/sec[1]/p[2]"), ("a2", ""), ("a1", "/sec[1]")), 1
    )
)

VALUES = [
    (
        TEXT,
        IN_CONTEXT,
        {  # F(d1) = 2/3 whatever β, F(d2) = 2/3 with β = 1 and 17/18 with β = 1/4; gP = 2/3, 1/3, 4/9
            "MAgP": (2 / 3 + 4 / 9) / 2,
            "MAgP(beta=0.25)": (2 / 3 + (2 / 3 + 17 / 18) / 3) / 2,
            "MAgP(gain=length)": (150 * 2 / 3 + 400 * 4 / 9) / 550,
            "MAgP(gain=length, credit=retrieved)": (100 * 2 / 3 + 200 * 4 / 9) / 550,
            "MAgP(gain=length, form=ratio)": (2 / 3 + 4 / 9) / 2,
            "MAgP(gain=length, credit=retrieved, form=ratio)": 300 / 550 * (2 / 3 + 4 / 9) / 2,
            "MAgP(gain=length, form=interpolated)": (28 * 2 / 3 + 73 * 4 / 9) / 101,  # recall 150/550 is level 27
            "T2I": (150 / 450 + 400 / 700) / 2,  # all of either article is read before 300 irrelevant characters
            "MAgP(score=t2i, irr=300)": (1 / 3 + (1 / 3 + 4 / 7) / 3) / 2,
            "gP@2": 1 / 3,
            "gP@10": 4 / 30,
            "gR@2": 1 / 2,
        },
    ),
    (
        TEXT,
        ENTRY_POINTS,
        {  # s = 200/250 and 1 at ranks 1 and 3; two best entry points
            "BEPD(A=0.1)": (0.8 + 1) / 2,
            "EPRUM(A=0.1)": ((0.8 + 0.2 / 3) + 0.8 * 2 / 3) / 2,
            "EPRUM(A=0.1)@0.5": 0.8 + 0.2 / 3,
            "EPRUM-P(A=0.1)@3": 1.8 / 3,
            "PRUM(nav=distance, A=0.1)": ((0.8 + 0.2) / (1 + 0.2 + 0.2) + 1.8 / 3) / 2,
            "ERRel(nav=distance, A=0.1)@1": 0.4,
            "MAgP(score=bep, n=500)": (0.9 + 1.9 / 3) / 2,
        },
    ),
    (
        TEXT,
        PASSAGES,
        {  # the second passage adds 100 characters, 50 of them relevant, and is charged 150 by hP
            "hP@3": (2 / 3 + 1 / 3 + 4 / 5) / 3,
            "hR@3": 1.0,
            "hF@3": 0.75,
            "hAP": (2 / 3 * 100 + 1 / 2 * 50 + 3 / 5 * 400) / 550,
            "iP@0.01": 550 / 750,
            "MAiP": 550 / 750,
            "charP": 550 / 750,
        },
    ),
    (
        ELEMENTS,
        PATHS,
        {  # gains 1, 2/3, 1, .8, normalised .8, 0, 1, 0; ideal 1, 1.8; full 1, 2, 3, 3.8, 67/15, 73/15
            "nxCG@1": 0.8,
            "nxCG@2": 0.8 / 1.8,
            "nxCG@3": 1.0,
            "nxCG(ideal=full)@2": 0.8 / 2,
            "nxCG(ideal=full)@4": 1.8 / 3.8,
            "MAnxCG@3": (0.8 + 0.8 / 1.8 + 1) / 3,
            "MAep": 4 / 6,
            "MAep(ideal=line)": (1 + 5 / 6 + 8 / 9 + (3 + 7 / 12) / 4) / 6,
            "iMAep": 0.71,
            "ep@0.8": 0.0,
            "gr@2": 5 / 3 / (73 / 15),
            "EPRUM(nav=contains)": (1 / 3 + 2 / 4) / 2,
            "PRUM": (1 / 3 + 2 / 4) / 2,
            "ERRel@3": 0.5,
        },
    ),
]


@pytest.mark.parametrize(("gold", "results", "expected"), VALUES, ids=["articles", "entry points", "text", "elements"])
def test_the_command_prints_what_was_worked_out_by_hand(tmp_path, gold, results, expected):
    (tmp_path / "gold").write_text(gold)
    (tmp_path / "run").write_text("".join(f"1 Q0 {result}\n" for result in results))
    asked = [option for name in expected for option in ("-m", name)]
    files = [str(tmp_path / "gold"), str(tmp_path / "run")]
    printed = CliRunner().invoke(main, ["score", *files, "--format", "json", *asked])
    assert printed.exit_code == 0, printed.output
    assert json.loads(printed.stdout)["runs"][0]["measures"] == pytest.approx(expected, abs=1e-12)
