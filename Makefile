# Everything a fresh machine needs is made here: a virtual environment, the package, its tools.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check lint types docs bench clean

demo: $(VENV)/.installed
	$(BIN)/focuseval demo demo

test: $(VENV)/.tools
	$(BIN)/python -m pytest

check: lint types docs test

lint: $(VENV)/.tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.tools
	$(BIN)/mypy

docs: $(VENV)/.tools
	$(BIN)/python docs/generate.py --check
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

bench: $(VENV)/.tools
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script; done

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.tools: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group test --group lint --group docs
	touch $@

clean:
	rm -rf $(VENV) build dist demo docs/_build
