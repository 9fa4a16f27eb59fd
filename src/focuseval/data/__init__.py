"""What every other package passes on: gold, runs, placements, topics with NEXI, spans as arrays, tables."""
