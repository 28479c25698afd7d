"""What workloads should ask for, and how sure that is."""
