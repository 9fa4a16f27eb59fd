"""Every graph is a Vega-Lite specification with its rows, made by a pure function from the evidence."""
