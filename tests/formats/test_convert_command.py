"""`focuseval convert` and `focuseval formats` at the command line."""

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.formats import FORMATS, read_run
from strategies.samples import SAMPLES


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in SAMPLES.items():
        (tmp_path / name).write_bytes(text)
    return lambda *words, **options: CliRunner().invoke(main, list(words), **options)


def test_the_ending_of_the_target_chooses_the_format(shell):
    assert shell("convert", "inex-xml", "run.jsonl").exit_code == 0
    assert read_run("run.jsonl").path.to_pylist()[0] == "/article[1]/sec[2]"


def test_what_the_target_cannot_say_of_the_header_is_a_remark_on_stderr(shell):
    done = shell("convert", "inex-xml", "run.txt", "--to", "inex-text")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "inex-xml: left out: 6 header fields (task, participant, " in done.stderr


def test_a_refusal_is_one_line_exit_code_one_and_no_file(shell, tmp_path):
    done = shell("convert", "inex-xml", "run.fol")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "give --docs or --index" in done.stderr
    assert not (tmp_path / "run.fol").exists()


def test_standard_input_and_output_serve_as_files(shell):
    done = shell("convert", "-", "-", "--to", "jsonl", input=SAMPLES["trec-qrels"])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == '{"topic": "1", "doc": "d1", "relevance": 1}'


def test_a_target_without_a_telling_name_needs_to(shell):
    done = shell("convert", "trec-run", "out")
    assert done.exit_code == 2
    assert "name one with --to: inex-xml, " in done.stderr


def test_documents_in_place_of_an_index_turn_paths_into_offsets(shell, tmp_path):
    (tmp_path / "docs").mkdir()
    for name in ("9996", "9997"):
        (tmp_path / "docs" / f"{name}.xml").write_text("<article><sec>a</sec><sec>bc</sec><sec>d</sec></article>")
    done = shell("convert", "inex-xml", "-", "--to", "fol", "--docs", "docs")
    assert done.exit_code == 0
    assert [line.split()[6:] for line in done.stdout.splitlines()] == [["1", "2"], ["3", "1"], ["0", "4"]]


def test_the_format_of_the_input_can_be_named(shell):
    assert shell("convert", "inex-fol", "x.jsonl", "--run-format", "inex-text").exit_code == 0
    done = shell("convert", "inex-fol", "x.jsonl", "--gold-format", "inex-2008")
    assert done.stderr.startswith("inex-fol:1: expected a whole number as best entry point")


def test_every_format_is_listed_and_explained(shell):
    listed = shell("formats").stdout
    for known in FORMATS:
        assert f"\n{known.name} " in listed
        assert shell("formats", known.name).stdout.strip() == known.documentation.strip()


def test_an_unknown_format_is_one_line(shell):
    done = shell("formats", "nosuch")
    assert done.exit_code == 2
    assert done.stderr.startswith("expected one of inex-xml")


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_every_sample_converts_to_its_own_format_without_loss(shell, name):
    kind = next(known.kind for known in FORMATS if known.name == name)
    suffix = ".xml" if kind == "gold" and name < "inex-2008" and name.startswith("inex") else ""
    said = shell("convert", name, f"again{suffix}", "--to", name).stderr
    assert (said.count("\n"), said.endswith(", nothing left out\n")) == (1, True)
