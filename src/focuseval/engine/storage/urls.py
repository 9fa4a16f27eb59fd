"""URLs of object storage: what may stand in one, and what must not.

::

    s3://BUCKET/KEY
    s3://BUCKET/KEY?endpoint_override=http://localhost:9000&region=eu-west-1&anonymous=true

Keys and passwords do not belong in a URL, which ends up in logs and in the history of a shell: they are refused, and
never repeated in a message.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote, urlsplit

from focuseval.errors import UsageError

OPTIONS = ("endpoint_override", "region", "scheme", "anonymous")
"""What may be set in a URL's query."""

_QUERY = re.compile(r"\?([\w-]+=.*)\Z", re.DOTALL)
_SECRETS = "give credentials in the environment (AWS_ACCESS_KEY_ID …) or in a profile (AWS_PROFILE)"


def split_url(url: str) -> tuple[str, str, str]:
    """Return the scheme, the bucket with the key, and the query of a URL; a key is taken as it is written.

    >>> split_url("s3://bucket/a/b.txt?region=eu-west-1")
    ('s3', 'bucket/a/b.txt', 'region=eu-west-1')
    """
    scheme, _, rest = url.partition("://")
    found = _QUERY.search(rest)
    path = (rest[: found.start()] if found else rest).rstrip("/")
    bucket = path.partition("/")[0]
    if "@" in bucket or ":" in bucket:
        raise UsageError(f"expected {scheme}://BUCKET/KEY, found a user or a password before the bucket; {_SECRETS}")
    if not bucket:
        raise UsageError(f"expected {scheme}://BUCKET/KEY, found no bucket; name one")
    query = found[1] if found else ""
    for name in url_options(query):
        if name not in OPTIONS:
            known = ", ".join(OPTIONS)
            what = f"{scheme}://{path}: expected one of the options {known}, found {name!r}"
            raise UsageError(f"{what}; {_SECRETS}")
    return scheme, path, query


def url_options(query: str) -> dict[str, str]:
    """Return what is set in a URL's query."""
    return dict(parse_qsl(query, keep_blank_values=True))


def file_path(url: str) -> str:
    """Return the path that a ``file://`` URL names.

    >>> file_path("file:///tmp/a%20b.txt")
    '/tmp/a b.txt'
    """
    parts = urlsplit(url)
    if parts.netloc not in {"", "localhost"}:
        raise UsageError(f"expected file:///PATH, found the host {parts.netloc!r}; a path has three slashes")
    return unquote(parts.path)
