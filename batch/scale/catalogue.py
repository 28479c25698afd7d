"""Every rule, in reading order."""

from __future__ import annotations

from batch.scale import api_server, dns, etcd, growth, health, images, network, own_cost, packing, size, slots, versions

RULES = (
    *size.RULES,
    *growth.RULES,
    *slots.RULES,
    *dns.RULES,
    *images.RULES,
    *etcd.RULES,
    *api_server.RULES,
    *own_cost.RULES,
    *health.RULES,
    *packing.RULES,
    *network.RULES,
    *versions.RULES,
)
