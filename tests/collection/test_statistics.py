"""The figures that papers print of a collection, by hand and on real articles."""

import pytest

from focuseval.collection.documents import open_documents
from focuseval.collection.index import describe


def test_a_collection_counted_by_hand(tmp_path):
    (tmp_path / "a.xml").write_text("<a>x<b>yz</b> <b/></a>")  # 3 elements, 3 text nodes, depths 1 2 2
    (tmp_path / "b.xml").write_text("<a><c><d>é</d></c></a>")  # 3 elements, 1 text node, depths 1 2 3
    found = describe(open_documents(tmp_path))
    assert (found.documents, found.elements, found.text_nodes) == (2, 6, 4)
    assert found.bytes == len("<a>x<b>yz</b> <b/></a>") + len("<a><c><d>é</d></c></a>".encode())
    assert found.characters == 5
    assert found.elements_per_article == 3
    assert found.nodes_per_article == 5
    assert found.mean_depth == pytest.approx(11 / 6)
    assert found.mean_depth_of_articles == pytest.approx((5 / 3 + 6 / 3) / 2)
    assert found.max_depth == 3
    assert found.unique_tags == 4
    assert found.mean_length == 2.5
    assert found.tags == (("a", 2), ("b", 2), ("c", 1), ("d", 1))


def test_the_figures_that_the_plos_articles_are_published_with(shared_data):
    """121 articles of 17 MB, about 2,400 nodes each, mean depth 6.8: elements, and the mean of articles' means."""
    found = describe(open_documents(shared_data / "plos"))
    assert found.documents == 121
    assert round(found.bytes / 1e6) == 17
    assert round(found.elements_per_article, -2) == 2_400
    assert round(found.mean_depth_of_articles, 1) == 6.8
