"""Reading, writing and converting whole files, whatever their format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.engine.storage import location
from focuseval.errors import FormatError, UsageError
from focuseval.formats import sniff
from focuseval.formats.catalogue import FORMATS, detect_source, find_format
from focuseval.formats.source import open_source, open_sources
from focuseval.placing import place_gold, place_run
from focuseval.placing.golds import refuse_past_end
from focuseval.placing.runs import refuse_bad_spans

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from focuseval.collection.protocol import Collection
    from focuseval.data.gold import Gold
    from focuseval.data.run import Run
    from focuseval.formats.format import Faults, Format, Kind
    from focuseval.formats.source import Source


def read_run(
    path: str | Path | Source,
    format: str | None = None,  # noqa: A002  the field's word
    index: Collection | None = None,
    *,
    hashed: bool = True,
    faults: Faults = "refuse",
) -> Run:
    """Return the run in a file (``-``: standard input); an index resolves its paths to spans.

    With ``hashed=False`` its `sha256` stays empty. With ``faults="keep"`` scores that are no finite numbers, and
    documents that a TREC run repeats, are not refused: the run's `faults` say why no measure can be computed, and a
    score that is no finite number ranks last.
    """
    source = open_source(path, hashed=hashed)
    chosen = find_format(format, "run") if format else detect_source(source, "run")
    run: Run = chosen.reader(index, faults)(source)
    return run if index is None else place_run(run, index)


def read_gold(path: str | Path | Source, format: str | None = None, index: Collection | None = None) -> Gold:  # noqa: A002  the field's word
    """Return the gold in a file, a folder of files, or standard input; an index resolves paths and checks quotes."""
    sources = open_sources(path)
    chosen = find_format(format, "gold") if format else _one_format(sources)
    return _placed(chosen.reader(index)(sources), index)


def _placed(gold: Gold, index: Collection | None) -> Gold:
    """Return a gold in its collection; without one a quoted span past its document's end cannot be put right."""
    if index is not None:
        return place_gold(gold, index)
    if gold.passages.quote is not None:
        refuse_past_end(gold)
    return gold


def write_run(
    run: Run,
    path: str | Path,
    format: str,  # noqa: A002  the field's word
    index: Collection | None = None,
    *,
    lossy: bool = False,
) -> tuple[str, ...]:
    """Write a run, whole or not at all, and return remarks on what the format cannot express."""
    from focuseval.formats.convert import convert_run  # noqa: PLC0415  writing is rare
    from focuseval.formats.output import write_whole  # noqa: PLC0415  as above

    chosen = find_format(format, "run")
    run, remarks = convert_run(run, chosen, index, lossy=lossy)
    write_whole(path, chosen.writer(index)(run))
    return remarks


def write_gold(
    gold: Gold,
    path: str | Path,
    format: str,  # noqa: A002  the field's word
    index: Collection | None = None,
    *,
    lossy: bool = False,
    replace: bool = False,
) -> tuple[str, ...]:
    """Write a gold, whole or not at all, and return remarks on what the format cannot express.

    Formats with a topic a file make a folder of them, unless `path` is one file (``….xml``, or ``-``); with `replace`
    in the place of a folder of such files.
    """
    from focuseval.formats.convert_gold import convert_gold  # noqa: PLC0415  writing is rare
    from focuseval.formats.judgements import file_name, only_topic  # noqa: PLC0415  as above
    from focuseval.formats.output import write_folder, write_whole  # noqa: PLC0415  as above

    chosen = find_format(format, "gold")
    gold, remarks = convert_gold(gold, chosen, index, lossy=lossy)
    if chosen.by_topic and str(path) != "-" and not location(path).suffix:
        one = {f"{file_name(t)}.xml": chosen.write(only_topic(gold, code)) for code, t in enumerate(gold.topics)}
        write_folder(path, one, replace=replace)
    else:
        write_whole(path, chosen.writer(index)(gold))
    return remarks


def _one_format(sources: Sequence[Source]) -> Format:
    """Return the format that all files of a gold share; assessments without any judged element fit every year."""
    formats = [detect_source(source, "gold") for source in sources]
    told = [known for source, known in zip(sources, formats, strict=True) if not sniff.unjudged(source.head())]
    chosen = (told or formats)[0]
    for source, other in zip(sources, formats, strict=True):
        if other != chosen and not (chosen.by_topic and sniff.unjudged(source.head())):
            raise FormatError(
                f"expected one format in the folder, {chosen.name}, found {other.name}",
                at=source.name,
                remedy="keep golds of different formats in different folders",
            )
    return chosen


def convert_file(
    source: str,
    target: str,
    wanted: str | None = None,
    *,
    given: Format | None = None,
    index: Collection | None = None,
    lossy: bool = False,
    replace: bool = False,
    cutoff: int | None = None,
) -> tuple[str, ...]:
    """Convert a run or a gold file into another format, and return the remarks of reading and writing.

    With `replace` a folder of assessments that exists already is replaced; `cutoff` is the most results of a topic.
    """
    sources = open_sources(source)
    before = given or (detect_source(sources[0]) if len(sources) == 1 else _one_format(sources))
    after = format_of(target, wanted, before.kind)
    if before.kind == "run":
        run: Run = before.reader(index)(_single(sources))
        if not run.topics:
            raise FormatError("expected results, found a run without topics", at=source, remedy="is it the right file?")
        if index is not None and run.start is not None:
            refuse_bad_spans(place_run(run, index))
        run, cut = _cut(run, cutoff)
        return (*run.remarks, *cut, *write_run(run, target, after.name, index, lossy=lossy))
    gold: Gold = before.reader(index)(sources)
    if gold.passages.quote is not None:
        gold = _placed(gold, index)
    return (*gold.remarks, *write_gold(gold, target, after.name, index, lossy=lossy, replace=replace))


def _cut(run: Run, cutoff: int | None) -> tuple[Run, tuple[str, ...]]:
    """Return the first results of every topic, and how many were left out."""
    import numpy as np  # noqa: PLC0415  only a profile needs it

    place = np.arange(len(run)) - run.bounds[run.topic]
    kept = np.flatnonzero(place < cutoff) if cutoff is not None else np.arange(len(run))
    if len(kept) == len(run):
        return run, ()
    return run.take(kept), (f"left out: {len(run) - len(kept):,} results beyond the first {cutoff:,} of their topics",)


def _single(sources: Sequence[Source]) -> Source:
    """Return the one file of a run."""
    if len(sources) > 1:
        raise FormatError(
            "expected one file, as a run is, found a folder of several", at=sources[1].name, remedy="name the file"
        )
    return sources[0]


def format_of(target: str, wanted: str | None, kind: Kind) -> Format:
    """Return the format that is wanted by name, or else the one that the ending of the file's name asks for."""
    if wanted:
        return find_format(wanted, kind)
    for known in FORMATS:
        if known.kind == kind and location(target).suffix.lower() in known.suffixes:
            return known
    names = ", ".join(known.name for known in FORMATS if known.kind == kind)
    raise UsageError(f"expected a format for {target!r}, found none by its ending; give --to, one of {names}")
