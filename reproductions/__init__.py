"""Published tables, computed again: each module holds the published figures, their source, and ours beside them."""
