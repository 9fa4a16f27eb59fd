"""Options that several commands share: the same words everywhere, and what is made of their values."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import click
from click.core import ParameterSource

from focuseval.cli.commands import main
from focuseval.data.gold import Gold
from focuseval.data.tables import LAYOUTS
from focuseval.engine.storage import is_url
from focuseval.errors import NotComparableError, UsageError, did_you_mean
from focuseval.formats.files import read_gold
from focuseval.formats.ranking import RankingOrder
from focuseval.inference.settings import CORRECTIONS, INTERVALS, MOST_RESAMPLES, TESTS, Settings

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

TASKS = "thorough, focused, relevant-in-context, best-in-context, fetch-browse or spans"
GRIDS = (*LAYOUTS, "json")  # how tables of results are printed
MERGES = ("lead", "majority", "union", "intersection")
WHOSE = ("assessor", "adjudicated", "merge", "imported", "include")
"""Options that say whose judgements of a project are meant."""

CONFIGURATION = "pyproject.toml"  # the file of the working folder whose table ``[tool.focuseval]`` may hold options

LEAST = 0.1  # the share of the judged documents that an index has to know


class FiniteRange(click.FloatRange):
    """A number in a range; infinity and NaN, which compare with nothing, are in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or refuse it."""
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value} is not a finite number.", param, ctx)

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()


def combined(*options: Decorator) -> Decorator:
    """Return a decorator that adds several options, in this order."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


# --------------------------------------------------------------------------------------------- collections and clusters


def _only_one(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Refuse an index and documents together: which of them was meant is not for a program to guess."""
    if value and (ctx.params.get("index") or ctx.params.get("docs")):
        if ctx.get_parameter_source(str(parameter.name)) is ParameterSource.DEFAULT_MAP:
            return None  # the command line wins
        raise click.UsageError("--index and --docs both name the collection; give one of them")
    return value


_DOCUMENTS = "folder, archive, JSON lines, segments, gold with texts"
collection_options = combined(
    click.option("--index", metavar="INDEX", callback=_only_one, help="Index of the collection: 'focuseval index'."),
    click.option("--docs", metavar="DOCS", callback=_only_one, help=f"Documents in place of an index: {_DOCUMENTS}."),
)


def open_collection(options: dict[str, Any]) -> Any:
    """Open the index or the documents, whichever is given; None if neither is."""
    if options["index"]:
        from focuseval.collection.store import open_index  # noqa: PLC0415  most scores need no text, and load a third less

        return open_index(options["index"])
    if options["docs"]:
        from focuseval.collection.sources import left_out  # noqa: PLC0415  as above
        from focuseval.formats.embedded import open_documents  # noqa: PLC0415  as above

        index = open_documents(options["docs"])
        if line := left_out(index.metadata):
            click.echo(f"{options['docs']}: {line}", err=True)
        return index
    return None


_CLUSTER = "A Dask cluster: local[:N] for N processes here, tcp://HOST:PORT, or a scheduler file."
cluster_option = click.option("--cluster", metavar="WHERE", help=_CLUSTER)
_JOBS = "Processes that score runs.  [default: all cores where there is much to do]"
jobs_option = click.option("--jobs", type=click.IntRange(1), help=_JOBS)


def cluster_workers(where: str | None) -> AbstractContextManager[Any]:
    """Give the workers of the cluster that ``--cluster`` names; None without it, and nothing is loaded."""
    if where is None:
        return nullcontext()
    from focuseval.engine.cluster import connected  # noqa: PLC0415  needs Dask, which is optional and takes a second

    return connected(where, lambda line: click.echo(line, err=True))


_CACHE = "Keep blocks of an index on object storage here, up to 10 GB (FOCUSEVAL_CACHE, FOCUSEVAL_CACHE_GB)."
cache_option = click.option(
    "--cache", metavar="DIR", expose_value=False, help=_CACHE,
    callback=lambda _, __, value: value and os.environ.update(FOCUSEVAL_CACHE=value),  # for every process of a command
)  # fmt: skip

# -------------------------------------------------------------------------------------------------------- gold and runs

_FORMAT = "Format of the {}, if not detected; see 'focuseval formats'."
gold_format_option = click.option("--gold-format", metavar="FORMAT", help=_FORMAT.format("gold"))
run_format_option = click.option("--run-format", metavar="FORMAT", help=_FORMAT.format("runs"))
LOWER = "The runs' scores are distances: the lowest is best."
_ORDER = "What ranks results, where a file does not say or its order contradicts its scores."
run_options = combined(
    run_format_option,
    click.option("--order", type=click.Choice(get_args(RankingOrder)), help=_ORDER),
    click.option("--lower-is-better", "order", flag_value="lower", help=f"{LOWER} The same as --order lower."),
)  # how runs are read
unknown_option = click.option("--allow-unknown", is_flag=True, help="Go on if the index has almost no judged document.")


def whose_options(when: str = ", when the gold is a project of 'focuseval assess'") -> Decorator:
    """Return a decorator that adds whose judgements of a project are meant."""
    rule = "One gold from all assessors of a project: decisions, single judgements, else this rule."
    model = "With --merge: also use this language model or imported assessor; may be repeated."
    return combined(
        click.option("--assessor", metavar="NAME", help=f"Whose judgements{when}."),
        click.option("--adjudicated", is_flag=True, help=f"The decisions of the adjudication{when}."),
        click.option("--merge", type=click.Choice(MERGES), help=rule),
        click.option("--include", multiple=True, metavar="NAME", help=model),
        click.option("--imported", is_flag=True, help="With --merge: also use imported assessors."),
    )


gold_options = combined(collection_options, gold_format_option, whose_options(), unknown_option)
"""How a gold is read: its collection, its format, whose judgements of a project are meant."""


def is_project(path: str) -> bool:
    """Whether a path is the folder of an assessment project."""
    return not is_url(path) and (Path(path) / "assess.db").is_file()


def is_archive(path: str) -> bool:
    """Whether a path is a finished collection, as 'focuseval project archive' and 'focuseval publish' write it."""
    if Path(path).suffix.lower() != ".zip" or not Path(path).is_file():
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return {"manifest.json", "documents.jsonl"} <= {*archive.namelist()}
    except (OSError, zipfile.BadZipFile):
        return False


def read_judged(gold: str, options: dict[str, Any], *, graded: bool = False) -> tuple[Gold, Any]:
    """Return the gold and the collection: a project brings its own, unless ``--index`` or ``--docs`` names another."""
    index = open_collection(options)
    if is_project(gold):
        from focuseval.assessment.golds import Whose, read_project  # noqa: PLC0415  a gold file needs no assessments

        whose = Whose(**{name: options[name] for name in WHOSE})
        return read_project(gold, whose, index=index, graded=graded)  # its documents are those of its collection
    refuse_assessor(gold, options)
    if is_archive(gold):
        from focuseval.assessment.archive import archive_gold  # noqa: PLC0415  as above

        return archive_gold(gold, index=index)
    judged = read_gold(gold, format=options["gold_format"], index=index)
    if not options["allow_unknown"]:
        refuse_unknown(judged)
    return judged, index


def refuse_unknown(gold: Gold) -> None:
    """Refuse a collection that knows almost none of the judged documents: it is hardly the gold's own."""
    if gold.placement is None or not len(gold.documents):
        return
    rows, index = gold.placement.document, gold.placement.collection
    known = int((rows >= 0).sum())
    if known >= LEAST * len(rows):
        return
    has = f"it has {index.ids[0].as_py()!r}" if len(index) else "it has none"
    unknown = gold.documents[int((rows < 0).argmax())].as_py()
    raise NotComparableError(
        f"{gold.file or 'the gold'}: expected documents of {index.name}, found {known} of {len(rows)} judged ones in "
        f"it, not {unknown!r} ({has}); give the gold's own collection, or go on with --allow-unknown"
    )


def refuse_assessor(path: str, options: dict[str, Any]) -> None:
    """Refuse ``--assessor`` and the like where there is no project to which they could apply."""
    if any(options[name] for name in WHOSE):
        raise click.UsageError(f"--assessor, --adjudicated and --merge need an assessment project, {path} is none")


def _tags(ctx: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Return the tag names of a list with commas; None where none is given."""
    if value is None:
        return None
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",")))
    if not all(names) or any(set(name) & set(" |:/[]") for name in names):
        raise click.BadParameter(f"expected tag names separated by commas, found {value!r}", ctx, parameter)
    return names


def tags_option(name: str, what: str) -> Decorator:
    """Return a decorator that adds an option whose value is a list of tag names."""
    return click.option(name, metavar="TAGS", callback=_tags, help=what)


drop_tags_option = tags_option("--drop-tags", "Tags to leave out of the recall base, separated by commas.")
_REPAIRS = (
    "List every quote and text that is not where its file says, as CSV, or as JSON lines if FILE ends in .jsonl. "
    "(Changes no run; --repair is for runs that break the task's rules.)"
)
repairs_option = click.option("--repairs", metavar="FILE", help=_REPAIRS)

# ----------------------------------------------------------------------------------------- measures, tasks and policies


def _complete(module: str, names: Callable[[Any], Iterable[str]]) -> Callable[..., list[str]]:
    """Return what a shell asks for the names of a module that begin as the word at its cursor does."""
    return lambda _, __, start: [name for name in names(import_module(module)) if name.startswith(start)]


def measure_option(what: str) -> Decorator:
    """Return a decorator that adds ``-m``, which may be repeated."""
    return click.option(
        "-m", "--measure", "measures", multiple=True, metavar="MEASURE", help=what,
        shell_complete=_complete("focuseval.measures.measure", lambda m: " ".join(f.names for f in m.FAMILIES).split()),
    )  # fmt: skip


def task_option(what: str = "What the runs were asked for") -> Decorator:
    """Return a decorator that adds ``--task``."""
    names = _complete("focuseval.measures.tasks", lambda m: [task.name for task in m.TASKS])
    return click.option("--task", metavar="TASK", help=f"{what}: {TASKS}.", shell_complete=names)


def profile_option(what: str = "Policies and default measures of a campaign") -> Decorator:
    """Return a decorator that adds ``--profile``."""
    names = _complete("focuseval.measures.profiles", lambda m: [profile.name for profile in m.PROFILES])
    return click.option("--profile", metavar="PROFILE", help=f"{what}; see 'focuseval profiles'.", shell_complete=names)


_TOKENIZER = "The tokenizer that counts tokens (spanR@500t): tiktoken:NAME, or tokenizers:FILE of a tokenizer.json."
_REFUSAL = "An answer with these words abstains (silence), whatever their case; may be repeated."
tokenizer_option = click.option("--tokenizer", metavar="TOKENIZER", help=_TOKENIZER)


def _key(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Return the key that an environment variable holds."""
    if value is not None and not os.environ.get(value, "").strip():
        raise UsageError(f"expected a key in the environment variable {value}, found nothing; set it first")
    return None if value is None else os.environ[value].strip()


_KEY = "Environment variable that holds the server's key; nothing else reads it."
key_option = click.option("--api-key-env", "key", metavar="VAR", callback=_key, help=_KEY)


def evaluation_options(
    measures: str = "A measure such as nxCG@10; may be repeated.", topics: str = "The topics, for --cas strict."
) -> Decorator:
    """Return a decorator that adds what is evaluated, and how."""
    repair = (
        "Repair runs that break the task's rules before they are scored, and say what was changed. (Quotes that "
        "moved are found again in any case; --repairs lists them.)"
    )
    structure = "How the structure of topics is read: strict (SS) or vague (VV); SV, VS: target, then support."
    empty = "Topics without anything relevant: left out, or score 0 as in trec_eval.  [default: skip]"
    return combined(
        measure_option(measures), task_option(), profile_option(), gold_options, run_options,
        click.option("--missing", type=click.Choice(["zero", "skip"]), help="Unanswered topics: score 0, or left out."),
        click.option("--empty-topics", type=click.Choice(["skip", "zero"]), help=empty),
        click.option("--cutoff", type=click.IntRange(1), help="Evaluate the first N results of each topic."),
        click.option("--cas", type=click.Choice(["strict", "vague", "SS", "SV", "VS", "VV"]), help=structure),
        click.option("--topics", metavar="FILE", help=topics),
        click.option("--repair", is_flag=True, help=repair),
        drop_tags_option, tokenizer_option,
        click.option("--refusal", "refusals", multiple=True, metavar="WORDS", help=_REFUSAL),
        repairs_option,
    )  # fmt: skip


# --------------------------------------------------------------------------------------------------------- significance

PAIRS = "For many pairs: Holm, or Benjamini–Hochberg.  [default: holm; none with --test bootstrap --tails 1]"

_CLUSTERS = "Judge topics in clusters: document, tag:NAME (tags such as NAME:value), or a field such as group."
cluster_by_option = click.option("--cluster-by", "clusters", metavar="WHAT", help=_CLUSTERS)


def significance_options(*, tails: int = 2, correction: str = PAIRS, draws: str = "10000") -> Decorator:
    """Return a decorator that adds how differences are judged; what is not given is decided by `Settings`."""
    direction = "2: do they differ? 1: is one better, in a direction that was fixed beforehand?"
    resampled = f"Resamples of randomisation, bootstrap and intervals.  [default: {draws}]"
    level = FiniteRange(0, 1, min_open=True, max_open=True)
    made = "95 % intervals by Student's t (means: with a score interval), or by a bootstrap: studentised or BCa."
    return combined(
        click.option("--test", type=click.Choice(TESTS), default=TESTS[0], help="Significance test, paired by topic."),
        click.option("--tails", type=click.IntRange(1, 2), default=tails, help=direction),
        click.option("--resamples", type=click.IntRange(1, MOST_RESAMPLES), help=resampled),
        click.option("--alpha", type=level, default=0.05, help="Level of significance."),
        click.option("--correction", type=click.Choice(CORRECTIONS), help=correction),
        click.option("--seed", type=click.IntRange(0), default=0, help="Random seed; equal seeds give equal numbers."),
        click.option("--interval", type=click.Choice(INTERVALS), default=INTERVALS[0], help=made),
        cluster_by_option,
    )


def given(options: dict[str, Any]) -> dict[str, Any]:
    """Return what the options say of tests, without what they leave open."""
    return {name: options[name] for name in Settings.__dataclass_fields__ if options[name] is not None}


baseline_option = click.option(
    "--baseline", metavar="RUN", help="The run (file or id) to compare the others with; only these pairs are tested."
)


def with_baseline(runs: tuple[str, ...], baseline: str | None) -> tuple[str, ...]:
    """Return the runs; a baseline that is a file of its own becomes one of them."""
    return (*runs, baseline) if baseline and baseline not in runs and Path(baseline).is_file() else runs


# --------------------------------------------------------------------------------------------------------------- output


def layout_option(
    *layouts: str, what: str = "How the results are printed: a table fits the terminal, or 80 columns."
) -> Decorator:
    """Return a decorator that adds ``--format``: `GRIDS` if no layouts are named; the first is the default."""
    names = layouts or GRIDS
    return combined(
        click.option("--format", "layout", type=click.Choice(names), default=names[0], help=what),
        click.option("--json", "layout", flag_value="json", help="The same as --format json."),
    )


output_option = click.option("-o", "--output", metavar="FILE", help="Write to this file; a page if it ends in .html.")
results_options = combined(layout_option(), output_option)  # how tables of results are printed, and where

# -------------------------------------------------------------------------------------------------------- configuration


def configured(command: click.Command, path: Sequence[str]) -> dict[str, Any]:
    """Return the options that ``[tool.focuseval]`` of `CONFIGURATION` sets for a command, by parameter.

    `path` is the command's name, behind ``project`` for a verb. Its own table, ``[tool.focuseval.gate]``, may set any
    option and goes before the table of all commands, which sets options that several have.
    """
    try:
        text = Path(CONFIGURATION).read_text(encoding="utf-8")
        if "tool.focuseval" not in text:
            return {}
        import tomllib  # noqa: PLC0415  few folders configure anything

        tables = tomllib.loads(text)["tool"]["focuseval"]
    except (OSError, KeyError):
        return {}
    except ValueError as error:  # neither TOML nor UTF-8
        raise click.UsageError(f"{CONFIGURATION}: expected TOML, found: {error}") from None
    shared = click.command("shared")(combined(evaluation_options(), cluster_option, results_options)(lambda: None))
    every = {key: value for key, value in tables.items() if not isinstance(value, dict)}
    own = _own_table(tables, path)
    values: dict[str, Any] = {}
    for given, there, whose in ((every, shared, "several commands"), (own, command, " ".join(path))):
        known = {opt.lstrip("-"): option for option in there.params for opt in option.opts if opt.startswith("--")}
        for key, value in given.items():
            option = known.get(key)
            if not isinstance(option, click.Option):
                offer = did_you_mean(key, known, f"'focuseval {path[0]} --help' lists all")
                raise click.UsageError(f"{CONFIGURATION}: expected an option of {whose}, found {key!r}; {offer}")
            if isinstance(value, dict) or option.is_flag != isinstance(value, bool):
                expected = "true or false" if option.is_flag else "a text, a number or a list of them"
                raise click.UsageError(f"{CONFIGURATION}: {key}: expected {expected}, found {value!r}")
            if value is True and isinstance(option.flag_value, str):  # --json is --format json
                value = option.flag_value  # noqa: PLW2901
            if value is not False:
                values[str(option.name)] = [value] if option.multiple and not isinstance(value, list) else value
    taken = {option.name for option in command.params if isinstance(option, click.Option)}
    return {name: value for name, value in values.items() if name in taken}


def _own_table(tables: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Return the table of a command, empty where there is none; a table of no command is refused."""
    group: Any = main
    for name in path:
        known = group.list_commands(context := click.Context(group))
        if slips := [key for key, value in tables.items() if isinstance(value, dict) and key not in known]:
            offer = did_you_mean(slips[0], known, "'focuseval --help' lists all")
            raise click.UsageError(f"{CONFIGURATION}: expected the table of a command, found {slips[0]!r}; {offer}")
        own, group = tables.get(name), group.get_command(context, name)
        tables = own if isinstance(own, dict) else {}  # index = "wiki.idx" is no table of the command 'index'
    return tables
