"""One HTML file that answers in ten seconds and explains in ten minutes."""
