"""Files as people have them: names, containers and tables that other programs write, and what is said of the rest."""

import contextlib
import gzip
import io
import json
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

import focuseval as fe
from focuseval.cli import main
from focuseval.errors import CollectionError, FocusevalError, FormatError
from focuseval.example import ROOT as EXAMPLE
from focuseval.formats.catalogue import sniffed
from focuseval.formats.content import source_of
from focuseval.formats.embedded import read_questions
from focuseval.formats.rows import rows_of

DOCS = {
    "tea.md": "Boil fresh water. Warm the pot.\nBlack tea draws for four minutes. Serve hot.",
    "coffee.md": "Grind the beans. Use sixty grams for a litre. Serve hot.",
}
DRAWS, GRAMS = "Black tea draws for four minutes.", "Use sixty grams for a litre."
ASKED = [("How long?", DRAWS, "tea.md", [GRAMS, DRAWS]), ("How much?", GRAMS, "coffee.md", [GRAMS])]
GOLD = [{"topic": question, "doc": doc, "quote": text} for question, text, doc, _ in ASKED]
RESULTS = {question: found for question, _, _, found in ASKED}
EXPECTED = {"spanR@1": 0.5, "spanRR": 0.75}
NAME = {DRAWS: "tea.md", GRAMS: "coffee.md"}
FLAT = [(q, NAME[text], text, rank) for q, found in RESULTS.items() for rank, text in enumerate(found, 1)]


def lines(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def listed(name, make=lambda text: text, question="question", **more):
    return lines({question: q, name: [make(text) for text in found], **more} for q, found in RESULTS.items())


def parquet(rows):
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


def workbook(rows):
    """Return a workbook as Excel writes it: shared strings, a blank row, and inline strings as other programs write."""
    shared, cells = (
        list(dict.fromkeys([*rows[0], *(v for row in rows for v in row.values() if isinstance(v, str))])),
        [],
    )
    table = [list(rows[0]), [], *(list(row.values()) for row in rows)]
    for number, values in enumerate(table, 1):
        row = ""
        for column, value in zip("ABCDEFG", values, strict=False):
            if number == 3 and isinstance(value, str):
                row += f'<c r="{column}{number}" t="inlineStr"><is><t>{value}</t></is></c>'
            elif isinstance(value, str):
                row += f'<c r="{column}{number}" t="s"><v>{shared.index(value)}</v></c>'
            else:
                row += f'<c r="{column}{number}"><v>{value}</v></c>'
        cells += [f'<row r="{number}">{row}</row>'] if row else []
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        book.writestr("xl/workbook.xml", f"<workbook {space}/>")
        strings = "".join(f"<si><t>{one}</t></si>" for one in shared)
        book.writestr("xl/sharedStrings.xml", f"<sst {space}>{strings}</sst>")
        sheet = f"<worksheet {space}><sheetData>{''.join(cells)}</sheetData></worksheet>"
        book.writestr("xl/worksheets/sheet1.xml", sheet)
        book.writestr("xl/worksheets/sheet2.xml", f"<worksheet {space}/>")
    return out.getvalue()


FLAT_ROWS = [dict(zip(("Query", "Document", "Text", "Rank"), row, strict=True)) for row in FLAT]
COLUMNS = [{name.lower(): value for name, value in row.items()} for row in FLAT_ROWS]
RUNS = {
    "documents": listed("documents"),
    "documents of LangChain": listed("documents", lambda t: {"page_content": t, "metadata": {"source": NAME[t]}}),
    "source_documents": listed("source_documents", lambda t: {"page_content": t, "metadata": {}}, "query", result="x"),
    "source_nodes": listed(
        "source_nodes", lambda t: {"node": {"text": t, "metadata": {"file_name": NAME[t]}}, "score": 1}, "query"
    ),
    "contexts and answer": listed("contexts", question="query", answer="Four."),
    "results": listed("results", lambda t: {"id": 1, "text": t}),
    "rows in results": json.dumps({"took": 3, "results": [{"query": q, "text": t, "rank": r} for q, _, t, r in FLAT]}),
    "capitals and semicolons": "Query;Document;Text;Rank\n" + "".join(";".join(map(str, row)) + "\n" for row in FLAT),
    "blanks": "Query ID,Doc ID,Text,Rank\n" + "".join(",".join(map(str, row)) + "\n" for row in FLAT),
    "pandas": json.dumps({name: {str(i): row[name] for i, row in enumerate(COLUMNS)} for name in reversed(COLUMNS[0])}),
    "pandas, split": json.dumps(
        {"columns": list(COLUMNS[0]), "index": [0, 1, 2], "data": [list(row.values()) for row in COLUMNS]}
    ),
    "pandas, index": json.dumps({str(i): row for i, row in enumerate(COLUMNS)}),
    "pandas, table": json.dumps({"schema": {"fields": [{"name": "query"}], "pandas_version": "1"}, "data": COLUMNS}),
    "pandas, in capitals": json.dumps(
        {name: {str(i): row[name] for i, row in enumerate(FLAT_ROWS)} for name in FLAT_ROWS[0]}
    ),
    "long columns of pandas": json.dumps(
        {"filler": {str(i): "x" * 30_000 for i in range(3)}}
        | {name: {str(i): row[name] for i, row in enumerate(COLUMNS)} for name in COLUMNS[0]}
    ),
    "capitals in lines": lines(FLAT_ROWS),
    "parquet": parquet(COLUMNS),
    "parquet in capitals": parquet(FLAT_ROWS),
    "parquet of lists": parquet([{"question": q, "contexts": found} for q, found in RESULTS.items()]),
    "excel": workbook(FLAT_ROWS),
}
GOLDS = {
    "context and answer": lines({"query": q, "context": text, "answer": "x"} for q, text, *_ in ASKED),
    "quotes": lines({"question": q, "quotes": [text]} for q, text, *_ in ASKED),
    "quotes of a document": lines({"question": q, "doc": doc, "quotes": [text]} for q, text, doc, _ in ASKED),
    "answers": lines({"question": q, "answers": [text, "in other words"]} for q, text, *_ in ASKED),
    "answers of SQuAD without contexts": lines(
        {"question": q, "answers": {"text": [text], "answer_start": [7]}} for q, text, *_ in ASKED
    ),
    "answers of a document": lines({"question": q, "source": doc, "answers": [text]} for q, text, doc, _ in ASKED),
    "ground_truth": lines({"question": q, "ground_truth": t, "contexts": f, "answer": "?"} for q, t, _, f in ASKED),
    "expected": lines({"question": q, "expected": text} for q, text, *_ in ASKED),
    "question and answer": lines({"question": q, "answer": text} for q, text, *_ in ASKED),
    "semicolons": "Question;Answer;Source\n" + "".join(f"{q};{text};{doc}\n" for q, text, doc, _ in ASKED),
    "excel": workbook([{"Question": q, "Quote": text} for q, text, *_ in ASKED]),
    "parquet": parquet([{"question": q, "quotes": [text]} for q, text, *_ in ASKED]),
    "other keys": lines({"topic": q, "doc": d, "spans": [{"quote": t}], "author": "me"} for q, t, d, _ in ASKED),
}


@pytest.fixture
def written(tmp_path):
    def write(content, name="file"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_read_as_it_is(written, name):
    assert fe.evaluate(GOLD, written(RUNS[name]), list(EXPECTED), docs=DOCS).means()["file"] == EXPECTED


@pytest.mark.parametrize("name", GOLDS)
def test_a_gold_is_read_as_it_is(written, name):
    assert fe.evaluate(written(GOLDS[name]), RESULTS, list(EXPECTED), docs=DOCS).means()["run"] == EXPECTED


def test_a_workbook_of_another_program_is_read_the_same(written, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (list(FLAT_ROWS[0]), *(list(row.values()) for row in FLAT_ROWS)):
        book.active.append(row)
    book.save(tmp_path / "run.xlsx")
    assert fe.evaluate(GOLD, tmp_path / "run.xlsx", list(EXPECTED), docs=DOCS).means()["run"] == EXPECTED


def test_answers_in_words_of_their_own_are_refused_or_left_out_with_a_count(written):
    own = lines({"question": q, "ground_truth": "something else"} for q in RESULTS)
    with pytest.raises(
        FormatError, match=r"file:1: .*found answers in words of their own: 'something else' is in none"
    ):
        fe.evaluate(written(own), RESULTS, ["spanR"], docs=DOCS)
    some = own + lines([{"question": "How hot?", "ground_truth": DRAWS}])
    remarks = fe.evaluate(written(some), {**RESULTS, "How hot?": [DRAWS]}, ["spanR"], docs=DOCS).remarks()
    assert any(
        "3 texts without a document: 1 found, 0 ambiguous (in several documents), 2 lost" in one for one in remarks
    )
    generated = listed("contexts", answer=DRAWS)
    with pytest.raises(FormatError, match="expected a gold in a known format, found a run"):
        fe.read_gold(written(generated), docs=DOCS)


@pytest.mark.parametrize(
    ("kind", "content", "said"),
    [
        (
            "run",
            '{"question": "q", "latency": 1}',
            "fields latency, question, nearest to run-rows, which lack what was",
        ),
        ("run", '{"question": "q", "contexs": ["x"]}', "(is 'contexs' 'contexts'?)"),
        (
            "run",
            '{"latency": 1}',
            'which lack a \'topic\' or a \'question\', as in {"topic": "q1", "doc": "a.md", "rank"',
        ),
        ("run", '[["q0", "text {", 1]]', 'found \'[["q0", "text {", 1]]\''),
        ("run", '{"prompt": "q", "hits": [{"id": 1}]}\n' * 2, "fields hits, prompt, nearest to run-rows"),
        ("run", "Query\tText\n".encode("utf-16"), "found UTF-16; save it as UTF-8"),
        ("gold", "question,comment\nq,x\n", "which lack what answers the question: a 'quote', a 'doc' with 'start'"),
        ("gold", '{"question": "q", "hello": 1}', '{"topic": "q1", "doc": "a.md", "quote": "…"}; see'),
    ],
)
def test_what_is_not_understood_is_said_with_its_fields_and_a_line_to_copy(written, kind, content, said):
    read = fe.read_gold if kind == "gold" else fe.read_run
    with pytest.raises(FormatError) as caught:
        read(written(content))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_keys_are_counted_and_those_one_letter_away_refused(written):
    row = {"topic": "q", "doc": "tea.md", "rank": 1, "start": 0, "end": 5}
    run = fe.read_run(written(lines([row | {"latency_ms": 3, "query": "x"}] * 2)))
    assert [str(remark) for remark in run.remarks] == ["4 keys that a run does not have (latency_ms …) are left out"]
    with pytest.raises(
        FormatError, match=r"file:2: expected the key 'score'.*found 'scores'; correct or rename the key"
    ):
        fe.read_run(written(lines([row, row | {"scores": 3}])))
    with pytest.raises(FormatError, match=r"expected the key 'tags'.*found 'tag'"):
        fe.read_gold(written(lines([{"topic": "q", "doc": "a", "spans": [], "tag": "x"}])))


def test_equal_questions_without_ids_are_refused_in_a_run_and_counted_in_a_gold(written):
    twice = listed("documents", lambda t: {"page_content": t, "metadata": {"source": NAME[t]}}) * 2
    with pytest.raises(FormatError, match=r"file:3: expected one row for the question 'How long\?', found another at"):
        fe.read_run(written(twice))
    gold = fe.read_gold(written(GOLDS["quotes of a document"] * 2), docs=DOCS)
    assert "2 rows have no id and the question of another row: they are one topic" in map(str, gold.remarks)


def test_rows_of_tables_are_named_by_their_number(written):
    bad = [dict(row) for row in FLAT_ROWS]
    bad[1]["Rank"] = "first"
    with pytest.raises(FormatError, match="file:4: expected a finite number as 'rank', found 'first'"):
        fe.read_run(written(workbook(bad)))
    for content in (b"PAR1 and nothing more", b"PK\x03\x04 and nothing more", parquet(COLUMNS)[:-9]):
        with pytest.raises(FormatError, match="expected a table in Parquet or Excel, found: "):
            fe.read_run(written(content))


@given(st.binary(max_size=60), st.sampled_from([b"PAR1", b"PK\x03\x04"]))
def test_nonsense_in_tables_is_refused_in_one_line(content, begin):
    with pytest.raises(FormatError) as caught:
        source_of(begin + content)
    assert "\n" not in str(caught.value)


PLAIN = st.none() | st.integers(-5, 5) | st.text(max_size=3)
PARTS = st.recursive(PLAIN, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=4), v, max_size=3))
KEYS = st.sampled_from(
    ["query", "documents", "answers", "columns", "data", "results", "quotes", "distance", "ground_truth"]
)


@given(st.dictionaries(KEYS, PARTS, max_size=4))
@example({"columns": ["query"], "data": [None]})
@example({"columns": 5, "data": [["a"]]})
@example({"columns": [["query"]], "data": [["a"]]})
def test_nonsense_under_known_names_is_refused_or_read(value):
    source = source_of(json.dumps(value).encode() or b"{}", "file")
    for read in (fe.read_run, fe.read_gold):
        with contextlib.suppress(FocusevalError):
            read(source, docs=DOCS)
    assert all(isinstance(row.members, dict) for row in rows_of(source))


def test_an_ambiguous_id_names_file_and_line(written):
    docs = {"a/x.md": "one", "b/x.md": "two"}
    row = {"topic": "q", "doc": "a/x.md", "start": 0, "end": 3}
    with pytest.raises(
        CollectionError, match=r"file:2: document id 'x' is ambiguous: it could be 'a/x.md' or 'b/x.md'"
    ):
        fe.read_run(written(lines([row, row | {"doc": "x.md"}])), docs=docs)
    judged = {"topic": "q", "doc": "a/x.md", "spans": []}
    with pytest.raises(CollectionError, match="file:2: document id 'x' is ambiguous"):
        fe.read_gold(written(lines([judged, judged | {"doc": "x.md"}])), docs=docs)


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ("ID;Question\n7;What is tea?\n", {"7": "What is tea?"}),
        ("Question\nWhat is tea?\n", {"What is tea?": "What is tea?"}),
        (parquet([{"id": 7, "question": "What is tea?"}]), {"7": "What is tea?"}),
        (workbook([{"Query ID": "7", "Query": "What is tea?"}]), {"7": "What is tea?"}),
    ],
)
def test_topics_are_read_from_tables_as_runs_are(written, content, asked):
    assert {topic.id: topic.title for topic in read_questions(written(content))} == asked


def test_columns_of_a_frame_may_have_capitals():
    pandas = pytest.importorskip("pandas")
    assert fe.evaluate(GOLD, pandas.DataFrame(FLAT_ROWS), list(EXPECTED), docs=DOCS).means()["run"] == EXPECTED


def focuseval(*line):
    return CliRunner().invoke(main, [str(word) for word in line])


@pytest.fixture
def folder(written):
    for name, text in DOCS.items():
        written(text, f"docs/{name}")
    written("%PDF", "docs/left.tex")
    written(RUNS["documents"], "run.jsonl")
    written(GOLDS["quotes"], "gold.jsonl")
    return written("q1\twhat\n", "topics.tsv").parent


def test_doctor_says_what_files_are_and_what_they_give_together(folder):
    said = focuseval("doctor", folder / "gold.jsonl", folder / "run.jsonl", folder / "docs")
    assert said.exit_code == 0, said.output
    for line in (
        "gold.jsonl: a gold (gold-rows)",
        "fields: question = query, quotes = references",
        "run.jsonl: a run (run-rows)",
        "fields: question = query, documents = results",
        "47 measures can be computed: gP, MAgP, ",
        "among these MAgP = 0.7500, spanR@5 = 1.0000, nDCG@10 = 0.8155",
        "not MAep, iMAep, ep, gr, xCG, xCI, nxCG, MAnxCG, browseMAep, PRUM, ERRel, i2AP: ",
        f"not read: 1 .tex, first {folder / 'docs/left.tex'}; save them as text",
    ):
        assert line in said.stdout
    found = json.loads(
        focuseval("doctor", folder / "run.jsonl", folder / "gold.jsonl", folder / "docs", "--json").stdout
    )
    assert {"spanR", "nDCG", "MAgP"} <= set(found["together"][0]["computed"])
    assert not {"MAep", "BEPD"} & set(found["together"][0]["computed"])


def test_doctor_tells_xml_of_runs_golds_and_topics_from_documents():
    gold = EXAMPLE / "gold" / "assessments" / "101.xml"
    files = (EXAMPLE / "runs" / "focused" / "careful.xml", gold, EXAMPLE / "topics.xml", EXAMPLE / "articles")
    said = json.loads(focuseval("doctor", *files, "--json").stdout)
    assert {Path(one["file"]).name: one["is"] for one in said["files"]} == {
        "careful.xml": "a run (inex-xml)",
        "101.xml": "a gold (inex-2005)",
        "topics.xml": "6 topics",
        "articles": "documents",
    }
    assert "MAgP" in said["together"][0]["computed"]


def test_doctor_says_what_stands_in_the_way(folder, written):
    alone = focuseval("doctor", folder / "run.jsonl")
    assert "cannot be read: " in alone.stdout
    assert "give --docs or --index" in alone.stdout
    assert "to compute measures, name a gold and the documents, too" in alone.stdout
    assert alone.exit_code == 1
    odd = focuseval("doctor", written('{"latency": 1}\n', "odd.jsonl"))
    assert (odd.exit_code, odd.stdout.count("not understood"), odd.stdout.count("  cannot be read: ")) == (1, 1, 1)


def test_doctor_reads_scores_by_topic_as_a_run_though_they_are_no_grades(folder, written):
    written("query-id\tcorpus-id\tscore\nq1\ttea.md\t1\n", "qrels.tsv")
    said = focuseval("doctor", folder / "qrels.tsv", written('{"q1": {"tea.md": 0.71}}', "dense.json"))
    assert said.exit_code == 0, said.output
    for line in ("dense.json: a run (run-rows)\n", "not a gold: ", "dense.json: together", "nDCG@10 = 1.0000"):
        assert line in said.stdout
    alone = focuseval("doctor", folder / "dense.json").stdout
    assert "to compute measures, name a gold and the documents, too" in alone


def test_doctor_takes_a_published_collection_for_gold_and_documents(folder):
    sea, run = folder / "sea.zip", folder / "run.jsonl"
    spans = {"topic": "q", "query": "How long?", "doc": "tea.md", "spans": [{"quote": DRAWS}]}
    (folder / "gold.jsonl").write_text(lines([spans]))
    run.write_text(lines([{"topic": "q", "doc": "tea.md", "rank": 1, "text": DRAWS}]))
    made = focuseval("publish", folder / "gold.jsonl", "--docs", folder / "docs", "-o", sea, "--title", "Sea")
    assert made.exit_code == 0, made.output
    said = focuseval("doctor", sea, run)
    assert said.exit_code == 0, said.output
    assert "sea.zip: a published collection\n  Gold " in said.stdout
    assert f"{sea} + {run}: together" in said.stdout
    assert "spanR@5 = 1.0000" in said.stdout


def test_a_zip_file_without_a_sheet_is_refused_in_our_words(written):
    with zipfile.ZipFile(written("", "docs.zip"), "w") as packed:
        packed.writestr("tea.md", DRAWS)
    with pytest.raises(FormatError, match="expected a table in Parquet or Excel, found: a ZIP file without a sheet"):
        fe.read_run(packed.filename)


@pytest.mark.parametrize("packed", [gzip.compress, bytes])
def test_doctor_tells_a_run_of_texts_from_documents(written, packed):
    run = written("", "run.jsonl.gz")
    run.write_bytes(packed(lines([{"topic": "q1", "doc": "tea.md", "rank": 1, "text": "Warm the pot."}]).encode()))
    assert "run.jsonl.gz: a run (run-jsonl)" in focuseval("doctor", run).stdout


def test_doctor_names_a_project_and_opens_no_database(folder, written):
    written("{}", "project/project.json")
    written("not a database", "project/assess.db")
    written("not a database", "docs/inner/assess.db")
    said = focuseval("doctor", folder / "project", folder / "docs")
    assert said.exit_code == 0, said.output
    assert "project: an assessment project, which 'focuseval stats' describes" in said.stdout
    assert "2 documents" in said.stdout


def test_a_folder_of_beir_is_enough_for_a_sweep_and_for_doctor(written):
    corpus = lines({"_id": name, "title": "", "text": text} for name, text in DOCS.items())
    folder = written(corpus, "beir/corpus.jsonl").parent
    written(lines([{"_id": "q1", "text": "warm the pot"}]), "beir/queries.jsonl")
    written("query-id\tcorpus-id\tscore\nq1\ttea.md\t1\n", "beir/qrels/test.tsv")
    assert fe.read_gold(folder).queries == {"q1": "warm the pot"}
    swept = focuseval("sweep", folder, "--docs", folder, "--chunks", "words:5", "words:9", "--format", "json")
    assert swept.exit_code == 0, swept.output
    assert {row["measures"]["AP"] for row in json.loads(swept.stdout)["chunkings"]} == {1.0}
    said = focuseval("doctor", folder).stdout
    assert "documents" in said
    assert "a gold (gold-rows)" in said


@pytest.mark.parametrize("names", [("docs", "beir"), ("beir", "docs")])
def test_doctor_prefers_documents_to_those_of_beir_whatever_is_named_first(folder, written, names):
    written(lines([{"_id": "d1", "text": "Of something else."}]), "beir/corpus.jsonl")
    written("query-id\tcorpus-id\tscore\nq1\td1\t1\n", "beir/qrels/test.tsv")
    said = focuseval("doctor", folder / "gold.jsonl", *(folder / name for name in names), folder / "run.jsonl")
    assert f"{folder / 'gold.jsonl'} + {folder / 'run.jsonl'}: together\n  47 measures can be" in said.stdout


def test_the_qrels_of_beir_are_a_gold_where_nobody_says_what_they_are(written):
    qrels = written("query-id\tcorpus-id\tscore\nq1\ttea.md\t1\n", "beir/qrels/test.tsv")
    target = qrels.parent / "test.qrels"
    done = focuseval("convert", qrels.parents[1], target)
    assert done.exit_code == 0, done.output
    assert target.read_text() == "q1 0 tea.md 1\n"
    assert fe.read_run(qrels).document.to_pylist() == ["tea.md"]


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
@pytest.mark.parametrize("quote", [{"quote": "warm"}, {}])
def test_a_gold_that_was_written_as_a_table_is_not_taken_for_a_run(written, ending, quote):
    span = {"start": 0, "end": 4, **quote}
    gold = written(lines([{"topic": "q1", "query": "what?", "doc": "tea.md", "spans": [span]}]), "gold.jsonl")
    table, again = gold.with_suffix(ending), gold.with_name("again.jsonl")
    to = {".parquet": "gold-parquet", ".csv": "gold-csv"}[ending]
    for done in (focuseval("convert", gold, table, "--to", to), focuseval("convert", table, again)):
        assert done.exit_code == 0, done.output
    assert json.loads(again.read_text())["spans"] == [span]


def test_doctor_lists_fields_of_rows_alone(written):
    snippets = [{"file_path": "tea.md", "span": [0, 4]}]
    gold = written(json.dumps({"tests": [{"query": "what?", "snippets": snippets}]}), "legal.json")
    said = focuseval("doctor", gold).stdout
    assert "legal.json: a gold (legalbench-rag)" in said
    assert "fields: " not in said
    assert "left out: " not in said


def test_a_number_of_thousands_of_digits_is_not_repeated_in_full(written):
    run = written(f"1 Q0 a {'9' * 5000} 3 r\n", "run.trec")
    with pytest.raises(
        FormatError, match=r"run.trec:1: expected a whole number as rank, found '9{39}…; correct the line"
    ):
        fe.read_run(run)


def test_print_shows_the_remarks_of_the_command():
    scores = fe.evaluate(GOLD, RESULTS, ["recall@5", "spanR@1"], docs=DOCS)
    shown = str(scores)
    assert scores.remarks()
    for remark in scores.remarks():
        assert remark in shown
        assert remark.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#x27;")[:30] in scores._repr_html_()
    assert "counts documents, each at the rank of its first chunk" in shown
    assert "pyarrow.parquet" in sys.modules


@pytest.mark.parametrize("words", range(3, 10))
def test_sentences_are_no_run_and_no_gold_however_many_words_a_line_has(words):
    line = " ".join(["The", "default", "timeout", "of", "5", "seconds", "holds", "for", "all"][:words]).encode()
    assert sniffed(b"# Timeouts\n\n" + 6 * (line + b"\n")) is None


def test_a_folder_of_beir_is_enough_for_a_sweep(tmp_path):
    (tmp_path / "qrels").mkdir()
    lines = [json.dumps({"_id": f"d{n}", "title": "", "text": f"Of tea number {n}. Of water."}) for n in range(3)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    (tmp_path / "queries.jsonl").write_text(
        "\n".join(json.dumps({"_id": f"q{n}", "text": f"tea {n}"}) for n in range(3))
    )
    (tmp_path / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq0\td0\t1\nq1\td1\t1\nq2\td2\t1\n")
    done = CliRunner().invoke(main, ["sweep", str(tmp_path), "--chunks", "words:2", "sentences:1"])
    assert (done.exit_code, "sentences:1" in done.output) == (0, True), done.output


def test_stats_says_what_was_left_out_and_counts_one_as_one(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text('{"topic": "q1", "doc": "a", "latency_ms": 1, "start": 1, "end": 2}\n')
    done = CliRunner().invoke(main, ["stats", str(path)])
    assert "1 key that a run does not have (latency_ms) is left out" in done.stderr
    assert ("1 topic\n" in done.stdout, "1 topics" in done.stdout) == (True, False)
