"""Reads arguments and the clock, maps errors to exit codes."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from tqdm import tqdm

from batch import __version__, settings_page
from batch.errors import BatchError, Interrupted
from batch.memory import importing
from batch.settings import Settings, load

log = logging.getLogger("nightcap")

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")
_STAGES = ("collect", "assess", "render", "deliver")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code that CONTRACT gives it."""
    options = _parser().parse_args(arguments)
    settings: Settings | None = None
    try:
        settings = load(_settings_options(options), os.environ, options.config)
        _set_up_logging(settings)
        return int(options.command(options, settings))
    except BatchError as error:
        _set_up_logging(settings or Settings())
        _give_up(settings, str(error), error)
        return error.exit_code
    except Interrupted as error:
        _give_up(settings, f"{error} before anything was delivered", error)
        return int(error.exit_code)


def _give_up(settings: Settings | None, words: str, error: BaseException) -> None:
    """Say why there is no report. The words are for a person; the traceback only helps whoever asks for it with --verbose."""
    log.error("%s", words, exc_info=error if log.isEnabledFor(logging.DEBUG) else None)
    _leave_message(settings, words)


def _run(_options: argparse.Namespace, settings: Settings) -> int:
    with importing():
        from batch import pipeline  # noqa: PLC0415  the stages take a second to import, which `settings` and a wrong option need not wait for

    outcome = pipeline.Outcome()
    progress = _progress()
    world = _world(settings, progress)
    with _stopping_on_signals():
        try:
            pipeline.run(settings, world, outcome)
        finally:
            progress.close()
    return _tell(settings, outcome)


def _tell(settings: Settings, outcome: Any) -> int:
    """Say what was found, where the report is and what was missing; only the second is the result and goes to stdout."""
    report = outcome.report
    places = [receipt.location for receipt in outcome.receipts if receipt.error is None]
    _say(report.headline)
    for place in places:
        print(place)
    sys.stdout.flush()
    _say(report.missing)
    troubles = [text for text in (outcome.stopped, str(outcome.failure or "")) if text]
    _leave_message(settings, "\n".join([report.headline, *places, report.missing, *troubles]))
    if outcome.stopped:
        log.warning("%s", outcome.stopped)
    if outcome.failure:
        log.error("%s", outcome.failure)
        return int(outcome.failure.exit_code)
    return 0


def _collect(options: argparse.Namespace, settings: Settings) -> int:
    with importing():
        from batch import pipeline  # noqa: PLC0415  as above

    progress = _progress()
    world = _world(settings, progress)
    with _stopping_on_signals():
        try:
            pipeline.collect(settings, world, options.to)
        finally:
            progress.close()
    print(options.to)
    return 0


def _check(_options: argparse.Namespace, settings: Settings) -> int:
    with importing():
        from batch import preflight  # noqa: PLC0415  as above

    progress = _progress()
    world = _world(settings, progress)
    try:
        lines = preflight.check(settings, world)
    finally:
        progress.close()
    code = preflight.exit_code(lines)
    verdict = f"A run would end with exit code {code}." if code else "A run would work."
    width = max(len(line.what) for line in lines)
    for line in lines:
        print(_preflight_text(line, width))
    print(verdict)
    _leave_message(settings, "\n".join([verdict, *(f"{line.what}: {line.why}" for line in lines if line.required and line.state != "ok")]))
    return code


def _preflight_text(line: Any, width: int) -> str:
    """Write one line of the preflight, its remedy below it. The mark tells at a glance: + ok, x a run fails, - a run can do without."""
    mark = "+" if line.state == "ok" else "x" if line.required else "-"
    head = f"{mark} {line.state:<14}  {line.what:<{width}}  "
    text = f"{head}{line.why}".rstrip()
    return f"{text}\n{'':{len(head)}}{line.remedy}" if line.remedy else text


def _settings(options: argparse.Namespace, settings: Settings) -> int:
    print(settings_page.effective(settings) if options.effective else settings_page.reference(), end="")
    return 0


def _world(settings: Settings, progress: Any) -> Any:
    """Give the real world, with the clock that the settings ask for."""
    from batch import pipeline  # noqa: PLC0415  as above

    return pipeline.World(now=_clock(settings), monotonic=time.monotonic, sleep=time.sleep, in_cluster=_in_cluster(), progress=progress)


def _clock(settings: Settings) -> Any:
    """Give the clock: the real one, or with --now one that stands still so that equal input gives equal output."""
    fixed = settings.run.now
    return (lambda: fixed.astimezone(UTC)) if fixed else (lambda: datetime.now(UTC))


def _in_cluster() -> bool:
    return "KUBERNETES_SERVICE_HOST" in os.environ and _SERVICE_ACCOUNT.exists()


class _stopping_on_signals:  # noqa: N801  reads as the with statement that it is
    """Turns SIGTERM and SIGINT into Interrupted while the block runs."""

    def __enter__(self) -> None:
        self._before = {number: signal.signal(number, self._stop) for number in (signal.SIGTERM, signal.SIGINT)}

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @staticmethod
    def _stop(number: int, _frame: FrameType | None) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the kubelet may repeat it while what was begun is put in order
        signal.signal(signal.SIGINT, signal.default_int_handler)  # somebody at a terminal may not want to wait for that
        raise Interrupted(number)


class _Bar:
    """Shows the stages as a progress bar."""

    def __init__(self) -> None:
        self._bar = tqdm(total=len(_STAGES), bar_format="{desc:<44.44}{bar:24} {n}/{total}  {elapsed}", leave=False, file=sys.stderr)

    def stage(self, name: str) -> None:
        self._bar.n = _STAGES.index(name)
        self._bar.set_description_str(name)

    def count(self, what: str, number: int) -> None:
        self._bar.set_description_str(f"collect: {number:,} {what}")

    def close(self) -> None:
        self._bar.close()


class _Lines:
    """Writes a line of log a stage, where nobody watches."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def stage(self, name: str) -> None:
        self._flush()
        log.info("%s", name)

    def count(self, what: str, number: int) -> None:
        self._counts[what] = number

    def close(self) -> None:
        self._flush()

    def _flush(self) -> None:
        if self._counts:
            log.info("read %s", ", ".join(f"{number:,} {what}" for what, number in self._counts.items()))
        self._counts = {}


def _progress() -> _Bar | _Lines:
    return _Bar() if sys.stderr.isatty() and log.isEnabledFor(logging.INFO) else _Lines()


def _say(line: str) -> None:
    """Write a line for a person to stderr; without a terminal it is a line of the log."""
    if sys.stderr.isatty():
        print(line, file=sys.stderr)
    else:
        log.info("%s", line)


class _JsonLine(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)


def _set_up_logging(settings: Settings) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLine() if settings.log.format == "json" else logging.Formatter("%(levelname)-7s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    log.setLevel(settings.log.level.upper())


def _leave_message(settings: Settings | None, text: str) -> None:
    """Write a short result where Kubernetes looks for it, when that file exists (4096 bytes are kept)."""
    path = (settings or Settings()).run.termination_message_path
    if path.is_file():
        try:
            path.write_text(text[:4000] + "\n", encoding="utf-8")
        except OSError as error:
            log.warning("could not write the termination message %s: %s", path, error)


def _settings_options(options: argparse.Namespace) -> dict[str, object]:
    """Map options to the settings that they are."""
    chosen = vars(options)
    level = "debug" if chosen.get("verbose") else "warning" if chosen.get("quiet") else None
    return {
        "source": chosen.get("source"),
        "outputs": chosen.get("output"),
        "cluster.name": chosen.get("cluster"),
        "cluster.context": chosen.get("context"),
        "cluster.namespaces": chosen.get("namespace"),
        "run.now": chosen.get("now"),
        "log.level": level,
        "log.format": chosen.get("log_format"),
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m batch", description="Nightcap: the nightly capacity report for Kubernetes.")
    parser.add_argument("--version", action="version", version=f"nightcap {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="the whole night: collect, assess, render, deliver")
    _add_source_options(run)
    _add_output_option(run)
    run.set_defaults(command=_run)

    collect = commands.add_parser("collect", help="collect only: write a snapshot")
    _add_source_options(collect)
    collect.add_argument("--to", metavar="PATH", required=True, help="folder or s3:// URL of the snapshot")
    collect.set_defaults(command=_collect)

    check = commands.add_parser("check", help="find out whether a run would work: rights, APIs, outputs, settings")
    _add_source_options(check)
    _add_output_option(check)
    check.set_defaults(command=_check)

    page = commands.add_parser("settings", help="print every setting with type, unit, default, environment name and meaning")
    page.add_argument("--effective", action="store_true", help="print the merged values instead, secrets masked")
    _add_common_options(page)
    page.set_defaults(command=_settings)
    return parser


def _add_source_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", metavar="SRC", help="cluster (default), sample, dump:DIR or snapshot:URL")
    parser.add_argument("--cluster", metavar="NAME", help="name of the cluster in the report")
    parser.add_argument("--context", metavar="NAME", help="kubeconfig context")
    parser.add_argument("--namespace", metavar="NS", action="append", help="read only this namespace; repeatable")
    parser.add_argument("--now", metavar="ISO8601", help="the report's clock, for repeatable output")
    _add_common_options(parser)


def _add_output_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", metavar="URL", action="append", help="folder, file: or s3:// URL; repeatable (default: ./out outside a cluster)"
    )


def _add_common_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE", type=Path, help="settings in YAML")
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("--quiet", action="store_true", help="warnings and errors only")
    loudness.add_argument("--verbose", action="store_true", help="more messages")
    parser.add_argument("--log-format", choices=("text", "json"), help="how messages are written to stderr")
