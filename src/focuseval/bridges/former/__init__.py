"""Import paths of 0.2.0 that its pages show and that have moved since: ``focuseval.NAME`` is found here as ``NAME.py``.

`focuseval.__path__` names this folder, so that Python itself finds these modules, when somebody imports one.
"""
