"""Do the cluster's Jobs finish, on time, and let go of what they hold."""
