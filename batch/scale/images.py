"""Images: how long a new node waits for them."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from batch.findings import message, plural
from batch.scale.areas import IMAGES
from batch.scale.facts import Facts
from batch.scale.model import Check, Rule, fine, judged, unknown

_LESSON = '"Scaling Kubernetes to 2,500 nodes" (OpenAI, 2018)'
_KUBELET = 'Kubernetes documentation 1.36, "Kubelet Configuration (v1beta1)"'
_FAILS_AFTER = 5
"""Multiples of scale.pull_seconds from which a single pull is a failure: our own."""

LARGEST = Rule(
    id="images.largest",
    area=IMAGES,
    name="Pull of the largest image",
    unit="seconds",
    measures="size of the largest image on a node, at scale.pull_bytes_per_second (1 Gbit/s); unpacking comes on top",
    threshold="warns above scale.pull_seconds (60 s), fails above five times as long",
    source=f"the kubelet's former --image-pull-progress-deadline of one minute, and {_LESSON}",
    lesson="An image of 17 GB took half an hour on every new node, and all other pods of that node waited behind it. Autoscaling that brings a node within minutes is worth nothing then.",
    action="Make it smaller, or put it on the nodes beforehand (machine image, DaemonSet, lazy pulling); let kubelets pull in parallel.",
    needs=("list nodes",),
)
ON_NODE = Rule(
    id="images.per-node",
    area=IMAGES,
    name="Wait behind the largest image",
    unit="seconds",
    measures="on the node with most image bytes: time until an image of median size is there, when it is pulled after the largest",
    threshold="warns above scale.pull_seconds (60 s), fails above five times as long",
    source=f"`serializeImagePulls` is true by default: {_KUBELET}",
    lesson="Kubelets pull one image at a time unless told otherwise, so a small image waits for every large one before it. Pulling in parallel costs nothing but disk speed.",
    action="Set `serializeImagePulls: false` and `maxParallelImagePulls`, look at `registryPullQPS` (5 a second), and compare `maxPods`.",
    needs=("list nodes",),
)
RARE = Rule(
    id="images.rare",
    area=IMAGES,
    name="Large images on few nodes",
    unit="count",
    measures="images of at least scale.large_image_bytes (1 GiB) that at most scale.rare_image_ratio of the nodes (10 %) have",
    threshold="warns above 0; fails when the pull of one of them takes longer than five times scale.pull_seconds",
    source=f"{_LESSON}; the numbers are our own",
    lesson="A pod that moves has to wait for its image on the new node, and large images are on few of them. What restarts in seconds at home takes minutes elsewhere.",
    action="Keep such workloads on a pool of their own, or put their images there beforehand.",
    needs=("list nodes",),
)
RULES = (LARGEST, ON_NODE, RARE)


def checks(facts: Facts, images: pd.DataFrame) -> Iterator[Check]:
    """Judge the images that the nodes report; `images` has the schema tables.IMAGES, largest first."""
    for rule, judge in ((LARGEST, _largest), (ON_NODE, _on_node), (RARE, _rare)):
        yield facts.without_nodes(rule) or _unreported(facts, rule, images) or judge(facts, images)


def pull_seconds(facts: Facts, size_bytes: float) -> float:
    """Estimate the time to pull that many bytes at the stated bandwidth."""
    return size_bytes / facts.settings.scale.pull_bytes_per_second


def _unreported(facts: Facts, rule: Rule, images: pd.DataFrame) -> Check | None:
    if not len(facts.nodes):
        return fine(rule, message("There are no nodes"))
    if len(images):
        return None
    return unknown(rule, message("No node reports its images"), message("nodeStatusMaxImages of the kubelets, where it is 0"))


def _largest(facts: Facts, images: pd.DataFrame) -> Check:
    first = images.iloc[0]
    seconds = pull_seconds(facts, int(first["size_bytes"]))
    limit = facts.settings.scale.pull_seconds
    found = message(
        "{seconds:seconds} for {image:text} of {size:bytes}", seconds=seconds, image=first["image"], size=int(first["size_bytes"])
    )
    slow = images.loc[images["size_bytes"] > limit * facts.settings.scale.pull_bytes_per_second, "image"]
    return judged(LARGEST, seconds, found, warn=limit, fail=_FAILS_AFTER * limit, objects=tuple(map(str, slow)))


def _on_node(facts: Facts, _images: pd.DataFrame) -> Check:
    node, sizes, median_bytes = fullest_node(facts)
    median, largest = sizes[len(sizes) // 2], sizes[-1]
    one_at_a_time = pull_seconds(facts, largest + median if len(sizes) > 1 else largest)
    limit = facts.settings.scale.pull_seconds
    found = message(
        f"{{serial:seconds}} one at a time, {{parallel:seconds}} in parallel; {{count:count}} {plural(len(sizes), 'image', 'images')}, at least {{total:bytes}}, on {{node:text}}; the median node has {{median:bytes}}",
        serial=one_at_a_time,
        parallel=pull_seconds(facts, 2 * median if len(sizes) > 1 else largest),
        count=len(sizes),
        total=sum(sizes),
        node=node,
        median=median_bytes,
    )
    return judged(ON_NODE, one_at_a_time, found, warn=limit, fail=_FAILS_AFTER * limit, objects=(node,))


def fullest_node(facts: Facts) -> tuple[str, list[int], int]:
    """Give the machine with most bytes of images, their sizes in order, and what the median machine that reports any has."""
    reported = facts.snapshot.table("node_images")
    reported = reported.loc[reported["node"].isin(facts.nodes["node"])]
    totals = reported.groupby("node")["size_bytes"].sum()
    node = str(min(totals.index, key=lambda name: (-int(totals[name]), name)))
    sizes = sorted(int(size) for size in reported.loc[reported["node"] == node, "size_bytes"])
    return node, sizes, sorted(map(int, totals))[len(totals) // 2]


def _rare(facts: Facts, images: pd.DataFrame) -> Check:
    scale = facts.settings.scale
    rare = images.loc[(images["size_bytes"] >= scale.large_image_bytes) & (images["node_ratio"] <= scale.rare_image_ratio)]
    if not len(rare):
        return judged(RARE, 0, message("No image of at least {size:bytes} is on few nodes", size=scale.large_image_bytes), warn=0)
    slowest = pull_seconds(facts, int(rare["size_bytes"].max()))
    found = message(
        f"{{count:count}} {plural(len(rare), 'image', 'images')} of at least {{size:bytes}} on at most {{share:ratio}} of the nodes; the largest takes {{slowest:seconds}} to pull",
        count=len(rare),
        size=scale.large_image_bytes,
        share=scale.rare_image_ratio,
        slowest=slowest,
    )
    fails = 0 if slowest > _FAILS_AFTER * scale.pull_seconds else None
    return judged(RARE, len(rare), found, warn=0, fail=fails, objects=tuple(map(str, rare["image"])))
