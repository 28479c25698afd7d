"""Section, Table, Chart and Artifact: the document as data. Markup lives in the templates."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from batch.findings import Finding, Message

MOST_ROWS = 1_000
"""Rows of a table in report.html at most: more make a page that a phone cannot scroll. The CSV files have all."""


@dataclass(frozen=True)
class Artifact:
    """One file of the report. `name` is its path below the run's folder, with "/" between the parts."""

    name: str
    media_type: str
    data: bytes

    @property
    def sha256(self) -> str:
        """Checksum of the content, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Run:
    """The run that made the report, as report.json's `run` has it. All times are aware and in UTC."""

    id: str
    date: str
    source: str
    taken_at: datetime
    started_at: datetime
    finished_at: datetime
    deadline_seconds: float | None
    complete: bool


@dataclass(frozen=True)
class Picture:
    """A chart as a PNG, with its titles and the words for those who do not see it."""

    title: Message
    subtitle: Message
    alt: Message
    png: bytes


@dataclass(frozen=True)
class Letter:
    """What a mail tells of a run: its first page and a few pictures."""

    summary: Section
    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class Report:
    """What a run made: its files, and what to say about it on a terminal (three lines).

    `history` is what the run leaves to later ones: named below the cluster's history of the run's date.
    `letter` is what a mail tells, None where no mail is wanted. `problem` says why report.pdf is not among the files though it was asked for.
    """

    cluster: str
    run: Run
    artifacts: tuple[Artifact, ...]
    headline: str
    missing: str
    key_figures: Mapping[str, float | int | str | None] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    problem: str | None = None
    history: tuple[Artifact, ...] = ()
    letter: Letter | None = None


@dataclass(frozen=True)
class Bar:
    """Use inside requests inside the whole, as ratios to the whole; None is unknown. `strained` is drawn in the warm colour."""

    inner: float | None
    outer: float | None = None
    strained: bool = False


@dataclass(frozen=True)
class Column:
    """One column; neighbours of one `group` stand under a common head, and columns of one `scale` have one unit.

    `kind` is one of findings.KINDS, "name" for names of objects, "bar" for a Bar, "message" for a Message, "amount" for a Message that
    is one quantity, or "status" for the status of a check.
    """

    title: str
    kind: str = "text"
    group: str = ""
    scale: str = ""


@dataclass(frozen=True)
class Row:
    """Values in base units, one a column; None is unknown. `strained` and `strong` are the columns to print warm or bold."""

    cells: tuple[object, ...]
    strained: frozenset[int] = frozenset()
    strong: frozenset[int] = frozenset()
    chosen: bool = False


@dataclass(frozen=True)
class Table:
    """At most MOST_ROWS of `row_count` rows of `what` ("nodes"), the `order` ones first ("fullest"); `file` has all of them.

    `bars` names the parts of its bars, from the inside out; `notes` say what marks in it mean. One that is `whole` is never cut.
    """

    what: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: Message | None = None
    order: str = ""
    row_count: int = 0
    file: str = ""
    total: Row | None = None
    bars: tuple[str, ...] = ()
    notes: tuple[Message, ...] = ()
    whole: bool = False


@dataclass(frozen=True)
class Histogram:
    """How many pods use how much, and the share that uses at most that; in bytes or nanocores (`kind`).

    `edges` has one value more than `counts`. On a logarithmic axis `zero_count` pods are below the first edge. `curve` are points
    (value, share); `marks` the points of it to name, as (share, value).
    """

    kind: str
    what: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    curve: tuple[tuple[float, float], ...]
    marks: tuple[tuple[float, float], ...]
    logarithmic: bool = False
    zero_count: int = 0


@dataclass(frozen=True)
class Level:
    """An amount of memory to compare needs with: that of the flavors `names`."""

    memory_bytes: int
    names: tuple[str, ...]
    chosen: bool = False


@dataclass(frozen=True)
class Needs:
    """Memory that a node needs, by the number of its pods that sit at their limit (from 0), against what flavors have."""

    memory_bytes: tuple[float, ...]
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class ChanceLine:
    """A chance by number of pods, points (pods, chance), the same for the flavors `names`; `ends`: there is no slot for more pods."""

    names: tuple[str, ...]
    points: tuple[tuple[int, float], ...]
    ends: bool
    chosen: bool = False


@dataclass(frozen=True)
class Chances:
    """Chances of an overrun by the number of pods on a node, against the chance that is accepted and the number that is planned."""

    lines: tuple[ChanceLine, ...]
    accepted: float
    planned: int


@dataclass(frozen=True)
class Stacks:
    """Bars that each add up to a whole: `parts` are pairs (name, tone) of their pieces, `bars` pairs (name, sizes).

    Tones are use, other use, doubt, room, trouble and quiet. `alike` draws all bars to one scale instead of each as wide as there is room.
    """

    parts: tuple[tuple[str, str], ...]
    bars: tuple[tuple[str, tuple[float, ...]], ...]
    alike: bool = False


@dataclass(frozen=True)
class Blocks:
    """How many nodes have how many of something free at once: pairs (free ones, nodes), from 0; `what` names the free ones."""

    what: str
    bars: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Span:
    """CPU (nanocores) and memory (bytes) of one container, each as (seen, asked for, candidates, advised); None is unknown or no advice."""

    name: str
    cpu: tuple[int | None, int | None, tuple[int, ...], int | None]
    memory: tuple[int | None, int | None, tuple[int, ...], int | None]


@dataclass(frozen=True)
class Spans:
    """What containers ask for against what was seen, one line each."""

    rows: tuple[Span, ...]


@dataclass(frozen=True)
class Fill:
    """How full nodes are: shares of CPU and memory that are requested, and how many nodes these are; None is unknown."""

    name: str
    cpu: float | None
    memory: float | None
    node_count: int
    chosen: bool = False


@dataclass(frozen=True)
class Fills:
    """How full the nodes of several fleets would be, one line each."""

    rows: tuple[Fill, ...]


@dataclass(frozen=True)
class Piece:
    """A stretch of time in hours before the right end of a chart, 0 for "until then"; `kind` is one of Lanes.kinds."""

    begin: float
    end: float
    kind: str


@dataclass(frozen=True)
class Lane:
    """What happened in one line: its name, its pieces, and a word on it at the right; `strained` is set in the warm colour."""

    name: str
    pieces: tuple[Piece, ...]
    word: str
    strained: bool = False


@dataclass(frozen=True)
class Lanes:
    """What was at work in the `hours` before `end`, one lane each. `kinds` are good, bad, open (still at work), and waiting."""

    end: datetime
    hours: int
    lanes: tuple[Lane, ...]
    kinds: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Agenda:
    """What starts in the `hours` after `begin`: the number of starts in each quarter of an hour, and the starts of some, in hours from there.

    `peak` names the fullest minute, its time in hours, and words for it; None where no minute has more than one.
    """

    begin: datetime
    hours: int
    counts: tuple[int, ...]
    rows: tuple[tuple[str, tuple[float, ...]], ...]
    peak: tuple[float, str] | None


@dataclass(frozen=True)
class Reach:
    """A forecast: points (day, lower bound, estimate, upper bound), the limit, and the days on which it is reached: (earliest, estimate, latest)."""

    cone: tuple[tuple[int, float, float, float], ...]
    limit: float
    days: tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class Course:
    """A resource over the nights, in bytes, nanocores or a count (`kind`), with days counted from `tonight`, and where it goes.

    `lines` are pairs (name, values), of which None is unknown: what may be promised, is promised, and is used.
    """

    kind: str
    tonight: date
    days: tuple[int, ...]
    lines: tuple[tuple[str, tuple[float | None, ...]], ...]
    ahead: Reach | None = None


@dataclass(frozen=True)
class Chart:
    """A picture with its finding, how to read it, and the words for those who do not see it."""

    title: Message
    subtitle: Message
    alt: Message
    drawing: Histogram | Needs | Stacks | Blocks | Spans | Chances | Fills | Lanes | Agenda | Course


@dataclass(frozen=True)
class Tile:
    """One figure: what it is, its value (of a kind in findings.KINDS), a bar, and the base of the number."""

    label: str
    value: object
    kind: str
    base: Message
    bar: Bar | None = None


@dataclass(frozen=True)
class Lesson:
    """What a check that is not fine teaches: its name and status, what was found and where, what happened to others, what to do, by what rule."""

    name: str
    status: str
    found: Message
    where: Message | None
    lesson: Message
    action: Message
    basis: Message


@dataclass(frozen=True)
class Section:
    """One part of the report. `template` names its markup, reports/templates/sections/<template>.html.j2.

    `name` is what it is about, `title` what it found. `sentences` are further texts by the name that the template uses. `in_full` is how many
    findings the PDF prints with their reasons; None is all.
    """

    slug: str
    template: str
    name: str
    title: Message
    lede: tuple[Message, ...] = ()
    how_to_read: tuple[Message, ...] = ()
    findings: tuple[Finding, ...] = ()
    in_full: int | None = None
    tiles: tuple[Tile, ...] = ()
    tables: Mapping[str, Table] = field(default_factory=dict)
    charts: Mapping[str, Chart] = field(default_factory=dict)
    sentences: Mapping[str, tuple[Message, ...]] = field(default_factory=dict)
    lessons: tuple[Lesson, ...] = ()
