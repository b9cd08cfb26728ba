# autograd_lab: every command of the project. Each target installs what it needs into .venv once; the stamp files
# inside .venv say what is there, so that a second call starts at once.
#
#   make lab      JupyterLab on the first lesson    (PORT=8899 and NO_BROWSER=1 are understood)
#   make test     all tests, browser tests included (ARGS="-k stepper" goes to pytest)
#   make check    ruff and mypy
#   make help     the rest

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Byte-compiling everything up front would be a third of the installation; Python does it for what is imported.
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL := $(PIP) install --no-compile --editable
SETTINGS := $(VENV)/share/jupyter/lab/settings/overrides.json
SHARED := ../shared
LESSON := notebooks/lessons/00_first_steps.ipynb
STATIC := autograd_lab/widgets/static
BROWSERS := google-chrome google-chrome-stable chromium chromium-browser chrome

.PHONY: help lab test check notebooks front-end bundle bundle-is-current browser bench parity fuzz binder-check binder-requirements clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 20

# ----- what is installed -----

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "autograd_lab needs Python 3.11 or newer; this is $$($(PYTHON) -V). Say: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "making $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# Widget state is saved into notebooks only when JupyterLab is told so; a saved lesson then opens with its pictures.
$(SETTINGS): binder/overrides.json | $(VENV)/.made
	@mkdir -p $(@D)
	@cp $< $@

$(VENV)/.lab: pyproject.toml | $(VENV)/.made
	@echo "installing autograd_lab with JupyterLab into $(VENV)"
	@$(INSTALL) '.[lab]'
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/.made
	@echo "installing autograd_lab with JupyterLab and what the tests need into $(VENV)"
	@$(INSTALL) '.[lab,test]'
	@touch $(VENV)/.lab $@

$(VENV)/.dev: pyproject.toml $(VENV)/.test
	@echo "installing ruff, mypy and repo2docker into $(VENV)"
	@$(INSTALL) '.[lab,test,dev]'
	@touch $@

browser: $(VENV)/.test
	@if ! command -v $(BROWSERS) >/dev/null && ! $(BIN)/python -m tests.ui.chromium >/dev/null 2>&1; then \
	    if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	        echo "installing Debian's Chromium"; \
	        apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium >/dev/null; \
	    else \
	        $(BIN)/playwright install chromium; \
	    fi; \
	fi

# ----- using it -----

lab: $(VENV)/.lab $(SETTINGS)  ## open JupyterLab on the first lesson (PORT=, NO_BROWSER=1)
	@exec $(BIN)/autograd-lab $(if $(PORT),--port $(PORT)) $(if $(NO_BROWSER),--no-browser)

# ----- testing it -----

test: $(VENV)/.test $(SETTINGS) browser  ## all tests, in JupyterLab and Chromium too (ARGS= goes to pytest)
	@$(BIN)/python -m pytest -n 2 --no-loadscope-reorder $(ARGS)

check: $(VENV)/.dev  ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/mypy

notebooks: $(VENV)/.lab  ## run every lesson from top to bottom; the results are thrown away
	@test -f $(LESSON) || { echo "$(LESSON) is missing" >&2; exit 1; }
	@out=$$(mktemp -d); trap 'rm -rf "$$out"' EXIT; \
	$(BIN)/jupyter nbconvert --log-level WARN --to notebook --execute --output-dir "$$out" notebooks/lessons/*.ipynb; \
	echo "lessons that ran: $$(ls "$$out" | wc -l)"

parity: $(VENV)/.test  ## how much of PyTorch's surface is there, and is it right (needs ../shared/conformance)
	@$(BIN)/python tests/parity/run.py $(ARGS)

fuzz: $(VENV)/.test  ## 2,000 random programs on PyTorch and here (PROGRAMS=, FIRST=)
	@AUTOGRAD_LAB_PROGRAMS=$(or $(PROGRAMS),2000) AUTOGRAD_LAB_FIRST_PROGRAM=$(or $(FIRST),0) \
	    $(BIN)/python -m pytest -q tests/parity/test_programs.py

bench: $(VENV)/.test  ## import and training-step benchmarks (needs ../shared/perf)
	@$(BIN)/python tests/benchmarks/run.py $(ARGS)

binder-check: $(VENV)/.dev  ## let repo2docker read binder/, without building anything
	@recipe=$$($(BIN)/repo2docker --no-build . 2>&1) || { echo "$$recipe" >&2; exit 1; }
	@echo "repo2docker reads binder/"

binder-requirements:  ## pin what .[lab] gives today into binder/requirements.txt
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(PYTHON) -m venv "$$fresh"; \
	"$$fresh/bin/python" -m pip --disable-pip-version-check --quiet install '.[lab]'; \
	{ sed -n '/^#/p' binder/requirements.txt; "$$fresh/bin/python" -m pip freeze --exclude autograd-lab; } > "$$fresh/pins"; \
	cp "$$fresh/pins" binder/requirements.txt

# ----- the front end -----

bundle:  ## rebuild the widgets' JavaScript into autograd_lab/widgets/static
	@cd widgets && npm ci --no-audit --no-fund --loglevel=error && npm run --silent build

front-end: bundle  ## types and unit tests of the TypeScript
	@cd widgets && npm run --silent check && npm run --silent test

bundle-is-current: bundle  ## fail when the committed bundle is not what its sources give
	@git diff --exit-code --stat -- $(STATIC) && test -z "$$(git status --porcelain -- $(STATIC))" \
	    || { echo "$(STATIC) is stale: commit what make bundle wrote" >&2; exit 1; }

clean:  ## remove everything that was installed or built here
	rm -rf $(VENV) build dist widgets/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
