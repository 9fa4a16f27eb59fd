"""Real plays and articles, in every copy of the sources: what other tools say of them is what this package says."""

import re
import zipfile

import numpy as np
import pytest
import pytrec_eval
from lxml import etree

import focuseval as fe
from focuseval.collection.build import build_index
from focuseval.collection.documents import open_documents

QUERIES = {"ghost": "ghost of a murdered king", "love": "love and marriage", "storm": "storm at sea", "crown": "crown"}
MEASURES = {"AP": "map", "P@5": "P_5", "nDCG@5": "ndcg_cut_5", "nDCG": "ndcg", "RR": "recip_rank", "Rprec": "Rprec"}


@pytest.fixture(scope="module")
def plays(real_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plays")
    build_index(real_data / "shakespeare" / "shakespeare.zip", folder / "plays.idx", jobs=1)
    return fe.open_index(folder / "plays.idx")


def test_the_text_of_every_element_is_what_xpath_says(real_data):
    index = open_documents(real_data / "plos")
    assert len(index.ids) == 12
    for row, name in enumerate(index.ids.to_pylist()):
        tree = etree.parse(str(real_data / "plos" / f"{name}.xml"))
        spaces = {prefix: uri for prefix, uri in tree.getroot().nsmap.items() if prefix}
        table, text = index.elements(row), index.text(row)
        paths = table.paths()
        assert len(paths) == int(tree.xpath("count(//*)"))
        for number in range(0, len(paths), 7):
            if re.search(r"\w+:\w+", paths[number]) is None:
                found = tree.xpath(f"string({paths[number]})", namespaces=spaces)
                assert text[table.start[number] : table.end[number]] == found, (name, paths[number])


def test_plays_hold_the_speeches_that_lxml_counts(real_data, plays):
    with zipfile.ZipFile(real_data / "shakespeare" / "shakespeare.zip") as archive:
        members = [name for name in archive.namelist() if name.endswith(".xml")]
        assert len(members) == len(plays.ids) == 8
        for member in members:
            root = etree.fromstring(archive.read(member))
            (row,) = plays.find([member.rpartition("/")[2].removesuffix(".xml")])
            tags = [path.rpartition("/")[2].partition("[")[0] for path in plays.elements(int(row)).paths()]
            assert tags.count("SPEECH") == len(root.findall(".//SPEECH"))
            assert plays.text(int(row)) == "".join(root.itertext())


def test_a_search_over_plays_scores_as_in_trec_eval(plays, tmp_path, monkeypatch):
    """Relevant, with a grade, are plays in whose speeches the topic's word is frequent."""
    monkeypatch.chdir(tmp_path)
    run = fe.retrieve(plays, QUERIES, unit="document")
    counts = {
        topic: {name: len(re.findall(topic, plays.text(row).lower())) for row, name in enumerate(plays.ids.to_pylist())}
        for topic in QUERIES
    }
    qrels = {topic: {name: int(np.log2(n + 1) / 2) for name, n in own.items()} for topic, own in counts.items()}
    (tmp_path / "qrels").write_text(
        "".join(f"{topic} 0 {name} {grade}\n" for topic, own in qrels.items() for name, grade in own.items())
    )
    fe.write_run(run, tmp_path / "run.trec", "trec-run", lossy=True)
    ranked = {}
    for line in (tmp_path / "run.trec").read_text().split("\n")[:-1]:
        topic, _, name, _, score, _ = line.split()
        ranked.setdefault(topic, {})[name] = float(score)
    assert sum(map(len, ranked.values())) > 20
    peer = pytrec_eval.RelevanceEvaluator(qrels, set(MEASURES.values())).evaluate(ranked)
    rows = fe.evaluate("qrels", "run.trec", list(MEASURES)).topics_of(0)
    assert rows.keys() == qrels.keys()
    for topic, row in rows.items():
        for ours, theirs in MEASURES.items():
            assert row[ours] == pytest.approx(peer[topic][theirs], abs=1e-9), (topic, ours)
