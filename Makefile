# Needs nothing but python3 (3.11 or newer) with venv. Each target makes .venv when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test bench lint format pictures clean

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(STAMP)
	@if [ -t 1 ]; then $(BIN)/marginalia demo; else $(BIN)/marginalia demo --headless; fi

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Many tests start the program: compiled once here, and not by each of them where Python is told to keep no bytecode.
# Neighbours share what a module sets up, so each worker gets a piece of the whole; one that is done takes of another's.
test: lint
	$(BIN)/python -m compileall -q marginalia_tui tests
	$(BIN)/pytest -n 3 --dist worksteal

bench: $(STAMP)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,bench]'
	$(BIN)/python -m bench

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

pictures: $(STAMP)
	$(BIN)/python -m tests.support.pictures

clean:
	rm -rf $(VENV)
