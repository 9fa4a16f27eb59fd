"""Every code block of the documentation is executed, in its order, and prints what its page says."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

import page_folders as has
from blocks import ROOT, RUNNABLE, SHOWN, Block, blocks, in_one_shell, in_process, runnable, write_files
from focuseval.engine.plugins import offered
from strategies.model_server import ModelServer

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")  # a test tells nobody that it ran
HOWTO = ROOT / "docs" / "howto"

GENERATED = ROOT / "docs" / "reference"
"""Signatures and docstrings of the code: its doctests run where they are written."""
EVERY = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if page.parent != GENERATED and "_build" not in page.parts
]
PAGES = [page for page in EVERY if runnable(page)]

IN_ONE_SHELL = ("README.md", "tutorial.md")
"""Pages for newcomers, typed into one bash process in an empty folder; the others run in this process."""

FOLDERS = {
    "README.md": has.own_documents,
    "afternoon-of-judging.md": has.afternoon,
    "align-chunks.md": has.chroma,
    "assess.md": has.sea_to_judge,
    "behind-a-proxy.md": has.judged_by_two,
    "campaign.md": has.judged_by_two,
    "cluster.md": has.several_machines,
    "from-chunking-evaluation.md": has.chroma,
    "compare-runs.md": has.sea,
    "evaluate-pdfs.md": has.reports,
    "extend.md": has.extended,
    "first-run.md": has.articles_and_topics,
    "formats.md": has.element_run,
    "history.md": has.old_and_new,
    "index-a-collection.md": has.wikipedia,
    "language-model-as-assessor.md": has.judged_by_one,
    "measures.md": has.offsets_run,
    "nexi.md": has.element_run,
    "other-tools.md": has.spans_of_others,
    "papers.md": has.sea,
    "recall-bases.md": has.element_run,
    "report.md": has.old_and_new,
    "score-your-own-system.md": has.tides,
    "several-assessors.md": has.judged_by_two,
    "trec-rag.md": has.segments,
    "validate-a-run.md": has.sea,
    **dict.fromkeys(
        (
            "check-quotations.md",
            "cited-answers.md",
            "from-deepeval.md",
            "from-ir-measures.md",
            "from-label-studio.md",
            "from-ragas.md",
            "from-ranx.md",
            "from-trec-eval.md",
            "install.md",
            "multi-hop.md",
            "tutorial.md",
        ),
        has.nothing,
    ),
}
"""What the reader of a page has before its first command; where a page is not here, the files of the first page."""

NEEDS = {
    "langchain.md": ("langchain_core", "langchain_text_splitters"),
    "llamaindex.md": ("llama_index.core",),
    "haystack.md": ("haystack",),
    "from-ir-measures.md": ("ir_measures",),
    "other-tools.md": ("ir_measures", "ir_datasets", "pyterrier"),
    "cluster.md": ("distributed",),
}
"""Packages of the dependency groups 'frameworks' and 'bridges' that a page is about."""

SERVES = "serves until it is ended; tests of assess and report start such servers and use them in a browser"
NETWORK = "needs the network and makes another environment"
CLUSTER = "needs other machines; tests/engine/cluster starts workers on this one"
NOT_RUN = (
    ("README.md", "make demo", f"{NETWORK}; test_demo runs the demo"),
    ("README.md", "make test", "runs these tests"),
    (
        "README.md",
        ". .venv/bin/activate",
        "the environment that make demo makes; here the tested package is on the path",
    ),
    ("from-trec-eval.md", "trec_eval -c", "trec_eval's program; reproductions/trec_eval.py compares the two"),
    ("from-ranx.md", "from ranx import", "needs ranx, of the group bench; tests/retrieval holds the values of fusion"),
    ("from-chunking-evaluation.md", "GeneralEvaluation", "needs the repository and an embedder"),
    ("from-ragas.md", "from ragas import", "needs ragas"),
    ("from-deepeval.md", "from deepeval import", "needs deepeval and a language model"),
    ("extend.md", "pip install ./example", "the test writes the metadata that installing would"),
    ("github-actions.md", "pip install ./tools/focuseval", NETWORK),
    ("tutorial.md", "python3 -m venv .venv", "the package that is tested is on the path in its place"),
    ("tutorial.md", ". .venv/bin/activate", "the package that is tested is on the path in its place"),
    ("tutorial.md", "pip install .", "the package that is tested is on the path in its place"),
    ("tutorial.md", "focuseval assess judging", SERVES),
    ("campaign.md", "--topics sea/topics.xml --users people", SERVES),
    ("several-assessors.md", "--host 0.0.0.0", SERVES),
    ("report.md", "--serve", SERVES),
    ("report.md", "--figures", "needs vl-convert or a browser; tests/report draws them where there is one"),
    ("language-model-as-assessor.md", "export LLM_KEY=", "the test's environment has a key"),
    ("retrieve-by-meaning.md", "--embedder ", "needs a server or a model; tests/retrieval starts a server"),
    ("cluster.md", "pip install", NETWORK),
    ("cluster.md", "s3://", "needs object storage; tests/engine/storage starts one"),
    ("cluster.md", "tcp://coordinator", CLUSTER),
    ("cluster.md", "dask scheduler", CLUSTER),
    ("cluster.md", "SLURMCluster", "needs Slurm; tests/engine/cluster compiles it"),
)
"""Page, part of the command or the block, and why it is not executed."""

IMPORT = "focuseval project import judging judged.jsonl"
INSTEAD = (
    *(
        (
            page,
            "--pool pool.jsonl\n",
            f"--pool pool.jsonl --no-serve\n$ {IMPORT}\n",
            "judgements in place of the browser",
        )
        for page in ("assess.md", "first-run.md")
    ),
    ("assess.md", "--to gold-jsonl", "--to gold-jsonl --assessor gold", "an imported assessor is named"),
    ("assess.md", "score judging", "score judging --assessor gold", "an imported assessor is named"),
    ("assess.md", "report judging", "report judging --assessor gold", "an imported assessor is named"),
    ("first-run.md", "compare judging", "compare judging --assessor gold", "an imported assessor is named"),
    ("first-run.md", "report judging", "report judging --assessor gold", "an imported assessor is named"),
    (
        "afternoon-of-judging.md",
        "focuseval assess judging --assessor ann",
        "focuseval project import judging people.jsonl --assessor ann",
        "judgements in place of the browser",
    ),
    ("behind-a-proxy.md", "/var/backups/focuseval", "judging/backups", "a folder that a test may write to"),
)
"""Page, what the reader types, what the test types, and why."""

ENDS = (
    ("check-quotations.md", "--strict", 1),
    ("formats.md", "focuseval convert run.xml run.trec", 1),
    ("papers.md", "--check", 1),
    ("publish.md", "--check", 1),
    ("validate-a-run.md", "--limit 1", 1),
)
"""Commands that end with another exit code than 0, as their pages say."""


PRINTED = (
    ("other-tools.md", r"\{(IoU@5: 0\.5, spanR@5: 0\.5|spanR@5: 0\.5, IoU@5: 0\.5)\}"),
    ("other-tools.md", r"path='/article\[1\]'"),
    ("check-quotations.md", r"verbatim.*\nnowhere.*\naltered.*\nspliced.*\nelsewhere"),
    *((name, r" 0 ambiguous, 0 lost\n") for name in ("langchain.md", "llamaindex.md", "haystack.md")),
    *((name, "spanR@1") for name in ("langchain.md", "llamaindex.md", "haystack.md", "dataframes.md")),
)
"""Patterns of what the Python of a page prints, where the page does not show it."""


def excepted(page: Path, text: str) -> bool:
    return any(page.name == name and part in text for name, part, _ in NOT_RUN)


def typed(page: Path, line: str) -> str:
    """What the test types for a line of a page."""
    for name, there, here, _ in INSTEAD:
        line = line.replace(there, here) if page.name == name else line
    return line


def as_run(page: Path) -> list[Block]:
    """The blocks of a page, without what is not run."""
    some = [replace(block, body=typed(page, block.body)) for block in blocks(page) if block.kind in RUNNABLE]
    return [kept for block in some if (kept := without_exceptions(page, block)).body]


def without_exceptions(page: Path, block: Block) -> Block:
    if block.kind != "console":
        return replace(block, body="" if excepted(page, block.body) else block.body)
    lines = block.body.replace("\\\n", " ").splitlines(keepends=True)
    return replace(block, body="".join(line for line in lines if not excepted(page, line)))


def expected(page: Path, block: Block) -> tuple[int, ...]:
    """The exit codes of a block's commands."""
    lines = block.commands if block.kind == "console" else [""]
    return tuple(next((code for name, part, code in ENDS if page.name == name and part in line), 0) for line in lines)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.setenv("LLM_KEY", "a-key")
    monkeypatch.syspath_prepend(tmp_path / "site")  # packages of a page
    offered.cache_clear()
    yield tmp_path
    offered.cache_clear()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_can_be_followed_and_prints_what_it_says(folder, page):
    for package in NEEDS.get(page.name, ()):
        pytest.importorskip(package, reason=f"{package} is not installed: see the dependency groups")
    FOLDERS.get(page.name, has.rag)(folder)
    if page.name in IN_ONE_SHELL:
        results = in_one_shell(as_run(page), folder)
    else:
        write_files(page, folder)
        with ModelServer(has.as_a_model) as server:
            some = [replace(b, body=with_model(b.body, server.url)) for b in as_run(page) if not b.caption]
            results = in_process(some, page, answers="a long password\n" * 2)
    for result in results:
        assert result.codes == expected(page, result.block), f"{result.block.body}\n{result.output}"
        assert result.unsaid() == [], f"{result.block.body}\n{result.output}"
    printed = "".join(result.output for result in results)
    assert [pattern for name, pattern in PRINTED if name == page.name and not re.search(pattern, printed)] == []


def with_model(text: str, url: str) -> str:
    """Text in which the server of a language model is the one of the test."""
    return re.sub(r"https?://(localhost:11434|llm\.example\.org)/v1", url, text)


def test_no_exception_is_left_over():
    texts = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    for name, part, *reason in (*NOT_RUN, *INSTEAD, *ENDS):
        assert part in texts[name], (name, part, reason)


def test_every_page_with_a_folder_of_its_own_has_blocks():
    assert {*FOLDERS, *NEEDS, *IN_ONE_SHELL} <= {page.name for page in PAGES}
    assert len({page.name for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("page", EVERY, ids=lambda page: page.stem)
def test_every_fence_is_of_a_kind_that_is_executed_or_only_shown(page):
    """A block that the pattern of `blocks` does not see, such as one in a list, would be executed by nobody."""
    text = page.read_text(encoding="utf-8")
    opened = re.findall(r"^ *(?:```|~~~)[^\n`]+$", text, re.MULTILINE)
    directives = r"```\{(toctree|admonition|include)\}.*"
    languages = rf"```(\{{code-block\}} )?({'|'.join((*RUNNABLE, *SHOWN))})"
    assert [line for line in opened if not re.fullmatch(f"{directives}|{languages}", line)] == []
    assert len([line for line in opened if not re.fullmatch(directives, line)]) <= len(blocks(page)) + captured(page)


def captured(page: Path) -> int:
    """How many blocks of text belong to the commands before them."""
    return sum(bool(block.printed) for block in blocks(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_are_in_blocks_that_are_executed(page):
    """Neither indented nor in a block of plain text, where no test would see them; of a file, its name is typed."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^    (?:\$ )?(?:focuseval|python3?|pip|make) .*", text, re.MULTILINE) == []
    plain = "\n".join(block.body for block in blocks(page) if block.kind == "text")
    assert re.findall(r"^(?:\$ .*|focuseval [a-z]+ .*|from \w+ import .*)", plain, re.MULTILINE) == []
    shown = "\n".join(line for block in runnable(page) for line in block.commands)
    assert [
        block.caption
        for block in blocks(page)
        if block.kind == "python" and block.caption and block.caption not in shown
    ] == []
