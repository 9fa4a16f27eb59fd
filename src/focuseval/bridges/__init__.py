"""Bridges to other tools: measures for ir_measures and PyTerrier, INEX collections for ir_datasets.

None of these tools is needed by the rest of the package; each module imports its own when it is called.
"""
