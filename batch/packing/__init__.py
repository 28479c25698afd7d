"""Multi-dimensional packing: pure arithmetic that serves the plan, the GPUs and the scale checks."""
