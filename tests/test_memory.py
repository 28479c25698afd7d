import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from batch.memory import garbage_collection_off, importing


def test_the_search_for_cycles_goes_on_also_after_a_failure() -> None:
    def fail() -> None:
        assert not gc.isenabled()
        raise ValueError("as it may")

    with pytest.raises(ValueError, match="as it may"), garbage_collection_off():
        fail()
    assert gc.isenabled()


def test_who_had_turned_it_off_finds_it_off() -> None:
    gc.disable()
    try:
        with garbage_collection_off():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_was_imported_is_never_looked_through_again() -> None:
    before = gc.get_freeze_count()
    try:
        with importing():
            kept: list[list[int]] = [[]]
        assert gc.get_freeze_count() > before
        assert not any(one is kept for one in gc.get_objects())
    finally:
        gc.unfreeze()


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux lists the threads of a process")
@pytest.mark.skipif(os.cpu_count() == 1, reason="on one core there is never a second thread")
def test_a_node_with_many_cores_gets_no_thread_for_each() -> None:
    code = "import batch, numpy, os; print(len(os.listdir('/proc/self/task')))"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert answer.stdout.strip() == "1"
