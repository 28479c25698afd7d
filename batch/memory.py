"""What the process spends on its memory: the search for cycles, and memory that a stage has freed but the C library keeps."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def garbage_collection_off() -> Iterator[None]:
    """Keep Python from looking for cycles, where millions of objects are made and no cycle: the looking is a fifth of the time that decoding takes."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def importing() -> Iterator[None]:
    """Import without looking for cycles, and never look through what was imported, half a million objects that stay to the end."""
    with garbage_collection_off():
        yield
        gc.freeze()


def _found() -> Callable[[int], int] | None:
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # not glibc: other C libraries have no such function, and keep less
        return None
    trim.argtypes, trim.restype = [ctypes.c_size_t], ctypes.c_int
    return trim


_TRIM = _found()


def give_back() -> None:
    """Let the C library give back what it keeps of freed memory; where it cannot, nothing happens.

    Tables and distributions of a few megabytes each come and go by the thousand; between them glibc keeps holes: 450 MiB at 150,000 pods after
    planning, of a limit of 1 GiB.
    """
    if _TRIM:
        _TRIM(0)
