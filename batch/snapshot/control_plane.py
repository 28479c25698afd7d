"""Names of what is known of the control plane, as table control_plane_metrics has them."""

from __future__ import annotations

ETCD_DATABASE = "etcd_database_bytes"
ETCD_QUOTA = "etcd_quota_bytes"
ETCD_FSYNC = "etcd_fsync_p99_seconds"
ETCD_COMMIT = "etcd_commit_p99_seconds"
ETCD_LEADER_CHANGES = "etcd_leader_changes_count"
STORED_OBJECTS = "stored_objects_count"
LATENCY = "request_p99_seconds"
LISTS = "list_requests_per_second"
LISTING_FLOWS = "flow_requests_per_second"
REJECTED = "rejected_requests_count"
SEATS = "seats_taken_ratio"
DEPRECATED = "deprecated_api_requested"
DNS_REQUESTS = "dns_requests_per_second"

SOURCE = "control_plane"
"""What Snapshot.has is asked for, and the source of its gap."""
