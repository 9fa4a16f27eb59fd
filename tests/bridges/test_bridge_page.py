"""The page on other tools is true: its Python runs, with the real packages."""

import json
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "other-tools.md"


@pytest.mark.filterwarnings("ignore")
def test_the_page_can_be_followed(tmp_path, monkeypatch, capsys):
    for package in ("ir_measures", "ir_datasets", "pyterrier"):
        pytest.importorskip(package, reason=f"{package} is not installed: see the dependency group 'bridges'")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.jsonl").write_text(
        json.dumps({"topic": "q1", "doc": "a", "spans": [{"start": 0, "end": 10}]}) + "\n"
    )
    (tmp_path / "run.jsonl").write_text(json.dumps({"topic": "q1", "doc": "a", "start": 0, "end": 5, "rank": 1}) + "\n")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, PAGE.name, "exec"), names)
    printed = capsys.readouterr().out
    assert "{IoU@5: 0.5, spanR@5: 0.5}" in printed or "{spanR@5: 0.5, IoU@5: 0.5}" in printed
    assert "mine" in printed
    assert "path='/article[1]'" in printed
