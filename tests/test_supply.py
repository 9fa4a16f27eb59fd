"""What CI installs and runs is fixed, and the action passes what it is given to no shell."""

import io
import json
import os
import re
import runpy
import subprocess
import sys
import textwrap
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
AUDIT = ROOT / ".ci" / "audit.py"


def pins():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split("\n")
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def test_every_action_is_named_by_its_commit():
    files = [ROOT / "action.yml", *(ROOT / ".github" / "workflows").glob("*.yml")]
    used = [name for file in files for name in re.findall(r"uses: (\S+)", file.read_text(encoding="utf-8"))]
    assert len(used) > 10
    assert [name for name in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name)] == []


def test_every_package_that_ci_needs_has_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = list(project["project"]["dependencies"])
    for name in ("test", "lint", "docs", "package"):
        wanted += project["dependency-groups"][name]
    names = {re.match(r"[\w.-]+", one)[0].lower().replace("_", "-") for one in wanted}
    assert names - {name.lower().replace("_", "-") for name in pins()} == set()


def workflow(name):
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8"))


def test_the_suite_is_run_on_every_system_and_python():
    matrix = workflow("tests")["jobs"]["test"]["strategy"]["matrix"]
    assert {"ubuntu-latest", "ubuntu-24.04-arm", "macos-latest", "macos-15-intel", "windows-latest"} == set(
        matrix["os"]
    )
    assert {"3.11", "3.12", "3.13", "3.14", "3.14t"} == set(matrix["python"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    classified = {line.rpartition(" ")[2] for line in project["classifiers"] if "Python :: 3." in line}
    assert classified == {python for python in matrix["python"] if not python.endswith("t")}


def test_a_release_has_a_wheel_for_every_system_and_the_sources(capsys):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    main = runpy.run_path(str(ROOT / ".ci" / "release.py"))["main"]
    assert main(workflow("release"), project) == 0
    lines = capsys.readouterr().out.split("\n")
    assert [line[19:49].strip() for line in lines[:7]] == [
        "py3-none-manylinux_x86_64",
        "py3-none-manylinux_aarch64",
        "py3-none-macosx_arm64",
        "py3-none-macosx_x86_64",
        "py3-none-any",
        "py3-none-any",
        "sdist",
    ]
    wrong = workflow("release")
    wrong["jobs"]["wheels"]["strategy"]["matrix"]["os"].append(
        "windows-latest"
    )  # as it was: nothing was ever published
    wrong["jobs"]["publish"]["needs"].remove("windows")
    assert main(wrong, project) == 1
    assert capsys.readouterr().out.split("\n")[-3:-1] == [
        "windows-latest: cibuildwheel would make a pure wheel there, and refuse it",
        "publish does not wait for windows",
    ]


def test_the_action_gives_options_to_the_command_as_they_are(tmp_path):
    script = textwrap.dedent((ROOT / "action.yml").read_text(encoding="utf-8").rpartition("run: |\n")[2])
    fake = tmp_path / "focuseval"
    body = "import json, sys\nopen('given', 'w').write(json.dumps(sys.argv[1:]))\nsys.exit(3)\n"
    fake.write_text(f"#!{sys.executable}\n{body}")
    fake.chmod(0o755)
    options = "--docs 'my docs' -m spanR@5; touch pwned; $(touch pwned) `touch pwned`"
    given = {"GOLD": "-gold", "RUN": "$(touch pwned)", "BASELINE": "a b", "MAX_LOST": "75%", "OPTIONS": options}
    path = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=os.environ | given | path, check=False)
    assert done.returncode == 3
    assert not (tmp_path / "pwned").exists()
    words = json.loads((tmp_path / "given").read_text())
    assert words[:6] == ["gate", "--junit", "focuseval-gate.xml", "--docs", "my docs", "-m"]
    assert words[-7:] == ["--baseline", "a b", "--max-lost", "75%", "--", "-gold", "$(touch pwned)"]


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (urllib.error.URLError("no route"), 0, "audit skipped: pypi.org cannot be reached (no route)"),
        (urllib.error.HTTPError("", 404, "", {}, None), 0, "audit skipped: what answers for pypi.org knows none"),
        ([], 0, "2 packages looked up, 0 known vulnerabilities"),
        ([{"id": "PYSEC-1", "aliases": ["CVE-2"], "fixed_in": ["9"]}], 1, "a==1: PYSEC-1, CVE-2; mended in 9"),
        ([{"id": "PYSEC-1", "withdrawn": "2026-01-01"}], 0, "2 packages looked up, 0 known vulnerabilities"),
    ],
)
def test_the_audit_says_what_is_known_or_why_it_was_skipped(tmp_path, monkeypatch, capsys, *, answer, code, said):
    def opened(*_, **__):
        if isinstance(answer, Exception):
            raise answer
        return io.BytesIO(json.dumps({"vulnerabilities": answer}).encode())

    monkeypatch.setattr(urllib.request, "urlopen", opened)
    (tmp_path / "pins.txt").write_text("# a comment\na==1\nb==2\n")
    assert runpy.run_path(str(AUDIT))["main"](tmp_path / "pins.txt") == code
    assert said in capsys.readouterr().out
