# Everything a fresh machine needs is made here: a virtual environment, the package, its tools.
# Needed beforehand: Python 3.11 or newer with its venv module, git, make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= auto
# A worker that has no more tests takes half of those that another still has to do: the slow ones stand together.
# A test that hangs fails after four minutes (tests/conftest.py); where it cannot be interrupted, its worker is ended after five.
PYTEST = python -m pytest -n $(JOBS) --dist worksteal -o faulthandler_exit_on_timeout=true
# And all tests together have half an hour, where coreutils can say so.
LIMIT := $(if $(shell command -v timeout),timeout --foreground --signal=INT --kill-after=1m 30m)
LOCKED := test lint docs package coverage
# Some containers switch bytecode off; each process that a test starts would then compile the package again.
export PYTHONDONTWRITEBYTECODE =
# Tests run side by side, and a second thread of OpenBLAS waits busily.
test soak frameworks oldest coverage: export OPENBLAS_NUM_THREADS = 1

.PHONY: help audit lock demo scale test soak frameworks oldest package browser proxy check lint types docs docs-generate example bench film reproduce mutants coverage clean

help:            ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## */\t/' | expand -t 16

demo: $(VENV)/.installed          ## the whole loop on the embedded example; writes demo/report.html
	$(BIN)/focuseval demo demo

test: $(VENV)/.group-test browser proxy ## every test (JOBS=1: one process; FOCUSEVAL_BROWSER=no: without a browser)
	$(LIMIT) $(BIN)/$(PYTEST)

soak: $(VENV)/.group-test         ## every command and mode beside a running server, with every kind of end
	FOCUSEVAL_SOAK=1 $(BIN)/$(PYTEST) tests/assessment/test_beside_server.py

browser:                          ## Chromium for the tests that need one: installed where apt and root are at hand
	@if [ "$$FOCUSEVAL_BROWSER" = no ]; then :; \
	elif command -v chromium >/dev/null && command -v chromedriver >/dev/null; then :; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
	    chromium chromium-driver fonts-dejavu-core >/dev/null; } || \
	  echo "Chromium could not be installed: browser tests will be skipped" >&2; \
	else echo "no Chromium: browser tests will be skipped; install chromium and chromium-driver" >&2; fi

proxy:                            ## nginx for the test of the documented proxy: installed where apt and root are at hand
	@if command -v nginx >/dev/null || [ -x /usr/sbin/nginx ]; then :; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  { apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
	    nginx-light openssl >/dev/null; } || \
	  echo "nginx could not be installed: the test of the proxy will be skipped" >&2; \
	else echo "no nginx: the test of the proxy will be skipped; install nginx-light" >&2; fi

check: lint types docs package test ## what must pass before a change lands

audit: $(BIN)/python              ## does PyPI know a vulnerability of a version in constraints.txt? (skipped without network)
	$(BIN)/python .ci/audit.py

lock:                             ## constraints.txt: the newest versions that CI's groups and the package can have, on this Python
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-lock/bin/python -m pip install --quiet . $(foreach group,$(filter-out coverage,$(LOCKED)),--group $(group))
	{ sed -n '/^#/p' constraints.txt; .venv-lock/bin/python -m pip list --format=freeze --exclude focuseval --exclude pip --exclude setuptools; } > .venv-lock/constraints.txt
	mv .venv-lock/constraints.txt constraints.txt

frameworks:                       ## the tests that need packages of others: LangChain, LlamaIndex, ir_datasets, PyTerrier …
	$(MAKE) --no-print-directory VENV=.venv-frameworks .venv-frameworks/.group-test .venv-frameworks/.group-frameworks .venv-frameworks/.group-bridges
	$(LIMIT) .venv-frameworks/bin/$(PYTEST) tests/bridges tests/collection tests/evaluation tests/formats tests/test_pages.py

oldest:                           ## every test but the browser's, with the oldest versions that pyproject.toml allows
	test -x .venv-oldest/bin/uv || { $(PYTHON) -m venv .venv-oldest && .venv-oldest/bin/python -m pip install --quiet uv; }
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest --resolution lowest-direct --editable . --group test
	FOCUSEVAL_BROWSER=no $(LIMIT) .venv-oldest/bin/$(PYTEST)

package: $(VENV)/.group-package   ## sdist and wheel in dist/, tried in an empty environment without a compiler
	rm -rf dist .venv-package
	FOCUSEVAL_PURE=1 $(BIN)/python -m build --quiet
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv .venv-package
	.venv-package/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd .venv-package && CC=false PATH="$$PWD/bin:/usr/bin:/bin" bin/focuseval demo tried >/dev/null
	cd .venv-package && bin/python -c 'import focuseval; assert ".venv-package" in focuseval.__file__; print("wheel", focuseval.__version__, "works")'

lint: $(VENV)/.group-lint         ## ruff: rules and layout
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.group-lint        ## mypy, strict
	$(BIN)/mypy

docs: $(VENV)/.group-docs         ## is the reference fresh, does every link hold; writes docs/_build/html
	$(BIN)/python docs/generate.py --check
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

docs-generate: $(VENV)/.group-docs ## write docs/reference/ from the code
	$(BIN)/python docs/generate.py

example: $(VENV)/.installed       ## write the embedded example's gold and runs from its articles and quotes
	PYTHONPATH=tests $(BIN)/python -m embedded.build

bench: $(VENV)/.group-test        ## every benchmark; each prints a ratio measured in one run
	for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

scale: $(VENV)/.group-test        ## large work beside a quarter of it: time, memory, longest silence (SHARE=0.1: a tenth; ONLY='pool')
	$(BIN)/python benchmarks/scale.py $(or $(SHARE),1) $(ONLY)

film: $(VENV)/.group-test browser ## docs/images/report-walk.webp: the walk that the tests take, photographed
	$(BIN)/python tests/film.py

reproduce:                        ## published tables, computed again (FOCUSEVAL_DATA: the data; TREC_EVAL: a clone; ONLY='chroma_table1')
	$(MAKE) --no-print-directory VENV=.venv-reproduce .venv-reproduce/.group-reproduce
	.venv-reproduce/bin/python -m reproductions $(ONLY)

mutants:                          ## break lines one by one: which does no test notice? (ONLY='focuseval.evaluation.gate.*'; slow)
	$(MAKE) --no-print-directory VENV=.venv-mutants .venv-mutants/.group-mutants
	rm -rf mutants
	.venv-mutants/bin/mutmut run $(if $(filter-out auto,$(JOBS)),--max-children $(JOBS)) $(ONLY)
	.venv-mutants/bin/python tests/mutants.py

coverage: $(VENV)/.group-coverage ## lines and branches that the tests reach
	$(LIMIT) $(BIN)/$(PYTEST) --cov --cov-report=term:skip-covered

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "focuseval needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments: its venv or ensurepip module is missing. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml src/focuseval/engine/version.py constraints.txt hatch_build.py $(wildcard src/focuseval/engine/*.c) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

$(VENV)/.group-%: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(filter $(LOCKED),$*),--constraint constraints.txt) --group $*
	touch $@

clean:           ## remove everything that was made
	rm -rf .venv .venv-* build dist demo mutants docs/_build src/focuseval/engine/libnative*.so
