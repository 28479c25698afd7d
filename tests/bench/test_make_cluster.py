import filecmp
from pathlib import Path

from batch.collect.assemble import Identity, assemble
from batch.collect.dump import Dump
from batch.deadline import Deadline
from bench.make_cluster import NOW, make_cluster
from bench.proof import differences


def test_what_is_read_of_a_made_cluster_adds_up_to_what_it_was_made_with(tmp_path: Path) -> None:
    make_cluster(tmp_path, node_count=40, pod_count=1200)
    deadline = Deadline(None, 0, lambda: 0.0, 0.0)
    snapshot = assemble(Dump(tmp_path), Identity("bench", "dump"), taken_at=NOW, fallback_taken_at=lambda: NOW, deadline=deadline)
    assert (len(snapshot.table("nodes")), len(snapshot.table("pods")), snapshot.gaps) == (40, 1200, ())
    assert differences(snapshot, tmp_path) == {}


def test_the_same_arguments_make_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        make_cluster(tmp_path / name, node_count=20, pod_count=300)
    names = sorted(path.name for path in (tmp_path / "first").iterdir())
    assert "pods-0001.json" in names
    assert filecmp.cmpfiles(tmp_path / "first", tmp_path / "second", names, shallow=False) == (names, [], [])
