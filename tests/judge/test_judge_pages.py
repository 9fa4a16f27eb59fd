"""The how-to pages on models and quotations can be followed: a local server stands in for the model."""

import json
import re
import shlex
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from browser import illustrate, start_driver
from focuseval.assess import open_project
from focuseval.cli import main
from focuseval.example import ROOT
from strategies.model_server import NEAP, SPRING, ModelServer, answer, asked_text
from strategies.projects import DOCUMENTS, as_person, begin_project, command

HOWTO = Path(__file__).parents[2] / "docs" / "howto"
MODEL, QUOTES = HOWTO / "language-model-as-assessor.md", HOWTO / "check-quotations.md"
BLOCK = re.compile(r"^```(?:\{code-block\} )?(\w+)\n(?::caption: (\S+)\n\n)?(.*?)^```", re.MULTILINE | re.DOTALL)
"""A fence's language, the name of the file that it shows, and its text."""


def blocks(page, kind):
    return [body for found, caption, body in BLOCK.findall(page.read_text(encoding="utf-8")) if found == kind]


def write_files(page, folder):
    for _, caption, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        if caption:
            (folder / caption).parent.mkdir(exist_ok=True)
            (folder / caption).write_text(body, encoding="utf-8")


def commands(page):
    """Every command, with the lines that the page says it prints."""
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, *said = part.strip().splitlines()
            yield line, said


def respond(body, _):
    """A model that marks one passage well, one with a slip, and one that it made up."""
    marked = [SPRING, NEAP.replace("shrinks", "shrinked"), "Tides are made by whales."]
    return answer(marked if SPRING in asked_text(body) else [])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    begin_project(tmp_path).rename("judging")
    for number, name in enumerate(("careful", "coarse"), 1):
        Path(f"run{number}.xml").write_bytes((ROOT / "runs" / "focused" / f"{name}.xml").read_bytes())
    with closing(open_project("judging")) as project:
        as_person(project, "ann", {DOCUMENTS[0]: (SPRING, NEAP)})
    monkeypatch.setenv("LLM_KEY", "a-key")
    return tmp_path


def test_the_page_on_models_can_be_followed_and_prints_what_it_says(folder):
    write_files(MODEL, folder)
    followed = 0
    with ModelServer(respond) as server:
        for line, said in commands(MODEL):
            if not line.startswith("focuseval"):
                continue
            local = re.sub(r"https?://(localhost:11434|llm\.example\.org)/v1", server.url, line)
            done = CliRunner().invoke(main, shlex.split(local)[1:])
            assert done.exit_code == 0, f"{line}: {done.output}"
            assert [text for text in said if text not in done.output.splitlines()] == [], done.output
            followed += 1
        (python,) = blocks(MODEL, "python")
        exec(compile(python.replace("http://localhost:11434/v1", server.url), MODEL.name, "exec"), {})
    assert followed >= 9
    assert Path("agreement.html").is_file()


def test_the_page_on_quotations_can_be_followed_and_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_files(QUOTES, tmp_path)
    (first, _), (strict, _) = commands(QUOTES)
    done = CliRunner().invoke(main, shlex.split(first)[1:], env={"COLUMNS": "80"})
    printed = {" ".join(line.split()) for line in done.output.splitlines()}
    shown = next(body for body in blocks(QUOTES, "text") if body.startswith("Quotations"))
    assert [line for line in shown.splitlines() if " ".join(line.split()) not in printed] == [], done.output
    assert CliRunner().invoke(main, shlex.split(strict)[1:]).exit_code == 1
    (python,) = blocks(QUOTES, "python")
    exec(compile(python, QUOTES.name, "exec"), {})
    verdicts = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert verdicts == ["verbatim", "nowhere", "altered", "spliced", "elsewhere"]


def example_passages():
    """Topic and document → the relevant passages of the embedded example."""
    lines = (ROOT / "gold" / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return {(one["topic"], one["doc"]): [span["quote"] for span in one["spans"]] for one in records}


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """Two people and a model over the pool of the embedded example's runs; one marks the first half of each passage."""
    monkeypatch.chdir(tmp_path)
    runs = sorted(map(str, (ROOT / "runs" / "focused").iterdir()))
    command("pool", *runs, "-o", "pool.jsonl")
    begin = {"collection": str(ROOT / "articles"), "topics": str(ROOT / "topics.xml"), "pool": "pool.jsonl"}
    passages = example_passages()
    with closing(open_project("sea", **begin)) as project:
        as_person(project, "ann", passages)
        as_person(project, "bob", {unit: [text[: len(text) // 2] for text in some] for unit, some in passages.items()})

    def model(body, number):
        text = asked_text(body)
        found = [quote for some in passages.values() for quote in some if quote in text]
        return answer([*found[: number % 3], *(["The sea is never still."] if number % 4 == 0 else [])])

    with ModelServer(model) as server:
        command("judge", "sea", "--endpoint", server.url, "--model", "llama3.1:8b")
    chosen = [word for run in runs for word in ("--stability", run)]
    command("assess", "sea", "--agreement", *chosen, "-m", "MAiP", "-o", "agreement.html")
    return tmp_path / "agreement.html"


def test_the_page_of_agreement_fits_a_phone_and_complains_of_nothing(campaign):
    driver = start_driver()
    try:
        browser = driver.browser()
        browser.size(390, 800)
        browser.open(campaign.as_uri())
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        assert browser.run("return document.querySelectorAll('svg[role=img][aria-label]').length") == 6
        illustrate(browser, "agreement-page", height=900)
        assert browser.errors() == []
        browser.close()
    finally:
        driver.close()
