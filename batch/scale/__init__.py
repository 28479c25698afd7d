"""Can the cluster grow: the limits that others ran into, each checked before it hurts."""
