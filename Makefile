# Every target makes its own .venv when there is none, and brings it up to date when pyproject.toml
# changed. No virtual environment needs to be active, and nothing is installed outside .venv.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory

# The Python to build .venv with (3.11 or newer); a newer python3.x is looked for when it is older.
PYTHON ?= python3
# How many tests run at once: one more than the cores of a small machine, as many tests wait for processes.
WORKERS ?= 3
# More for pytest, such as ARGS='tests/unit/spec -k units'.
ARGS ?=
# ALL=1 installs PyTorch and Google's clients too, and so runs the tests that need them.
ALL ?=

export PYTHON
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

bin := .venv/bin
dev := .venv/.installed-dev
pytest := $(bin)/python -m pytest -n $(WORKERS) --dist worksteal --durations 10

# A checkout that was moved has an environment that points to where it was.
ifneq ($(shell cat .venv/.place 2>/dev/null),$(CURDIR))
  $(shell rm -f .venv/.installed-*)
endif

.PHONY: help demo test check soak bench clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s %s\n", $$1, $$2 }' Makefile

demo: .venv/.installed-demo  ## Train a small model on two machines, lose them, and finish all the same
	@$(bin)/python scripts/demo.py

test: $(if $(ALL),.venv/.installed-all,$(dev))  ## Run the tests (ALL=1: those that need PyTorch or Google's SDKs too)
	@$(pytest) $(ARGS)

check: $(dev)  ## Lint, formatting, types, and which package may import which
	$(bin)/ruff check --quiet .
	$(bin)/ruff format --check --quiet .
	$(bin)/mypy --no-error-summary
	$(bin)/lint-imports --no-cache --no-logo

soak: $(if $(ALL),.venv/.installed-all,$(dev))  ## The same tests with large counts: thousands of seeds, hundreds of kills
	@WINDLASS_SEEDS=$${WINDLASS_SEEDS:-5000} WINDLASS_RENTED_SEEDS=$${WINDLASS_RENTED_SEEDS:-5000} \
	WINDLASS_TWIN_SEEDS=$${WINDLASS_TWIN_SEEDS:-5000} WINDLASS_FORECASTS=$${WINDLASS_FORECASTS:-200} \
	WINDLASS_KILLS=$${WINDLASS_KILLS:-200} WINDLASS_REHEARSALS=$${WINDLASS_REHEARSALS:-30} \
	  WINDLASS_EXAMPLES=$${WINDLASS_EXAMPLES:-2000} $(pytest) -m soak $(ARGS)

bench: $(dev)  ## Measure start-up, latency and throughput, with a ratio to plain Python beside each
	@$(bin)/python bench/run.py

clean:  ## Remove .venv and everything else that was made here
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
	find src tests scripts bench examples -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.installed-demo .venv/.installed-dev .venv/.installed-all: .venv/.installed-%: pyproject.toml
	@scripts/venv $*
