"""URLs of object storage: what they name, and what may not stand in them."""

from pathlib import Path

import pytest

from focuseval.engine.storage import Remote, is_url, local_path, location
from focuseval.errors import UsageError

HIDDEN = "AKIDSECRET"


def test_a_path_stays_a_path():
    assert location("runs/a.txt") == Path("runs/a.txt")
    assert not is_url("runs/a.txt")


def test_a_file_url_is_a_path_without_object_storage():
    assert location("file:///tmp/a%20b.txt") == Path("/tmp/a b.txt")
    assert local_path("file:///tmp/a.txt") == Path("/tmp/a.txt")


def test_a_url_is_printed_as_it_was_given():
    url = "s3://bucket/runs/a.txt?region=eu-west-1"
    assert str(location(url)) == url
    assert location(str(location(url))) == location(url)


def test_a_query_is_no_part_of_the_name():
    place = location("s3://bucket/runs/a.txt?region=eu-west-1")
    assert (place.name, place.suffix, place.parts) == ("a.txt", ".txt", ("bucket", "runs", "a.txt"))
    assert str(place.parent / "b.txt") == "s3://bucket/runs/b.txt?region=eu-west-1"


def test_a_question_mark_in_a_key_is_no_query():
    assert location("s3://bucket/who?.txt").name == "who?.txt"


@pytest.mark.parametrize(
    "url",
    [
        f"s3://{HIDDEN}:pass@bucket/key",
        f"s3://bucket/key?access_key={HIDDEN}",
        f"s3://bucket/key?X-Amz-Signature={HIDDEN}&region=eu-west-1",
    ],
)
def test_credentials_in_a_url_are_refused_and_not_repeated(url):
    with pytest.raises(UsageError, match="credentials in the environment") as refused:
        location(url)
    assert HIDDEN not in str(refused.value)


@pytest.mark.parametrize("url", ["s3://", "s3:///key", "https://example.org/run.txt", "file://host/run.txt"])
def test_a_url_that_names_nothing_we_can_read_is_refused(url):
    with pytest.raises(UsageError, match="expected"):
        location(url)


def test_a_url_is_no_local_file():
    with pytest.raises(UsageError, match="expected a local file"):
        local_path("s3://bucket/key")


def test_files_are_equal_whatever_is_known_of_them():
    assert Remote("s3", "b/k") == location("s3://b/k/")
