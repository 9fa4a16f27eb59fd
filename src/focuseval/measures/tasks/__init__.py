"""What each task allows: check a run, and repair it."""
