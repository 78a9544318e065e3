# Two commands do everything on a fresh machine with Python 3.11 and make:
#   make demo   build every suite from the embedded samples and score the embedded model on them
#   make test   lint, types, tests
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
OUT ?= demo_out

.PHONY: demo test lint types pytest format build clean

$(VENV)/.installed: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: $(VENV)/.installed
	@$(BIN)/python -m builders --all --corpus sample --output $(OUT)/suites --overwrite
	@for suite in $(OUT)/suites/*; do \
		$(BIN)/python -m eval --model demo --dataset $$suite \
			--output $(OUT)/results/$$(basename $$suite) --overwrite || exit $$?; \
	done
	@echo
	@echo "The suites (rows, manifest, card) are in $(OUT)/suites,"
	@echo "scores, plots and items in $(OUT)/results: open $(OUT)/results/sentence_order/report.html"

test: lint types pytest

lint: $(VENV)/.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.installed
	$(BIN)/mypy --strict .

pytest: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term

format: $(VENV)/.installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

build: $(VENV)/.installed
	$(BIN)/python -m build

clean:
	rm -rf build dist *.egg-info demo_out suites results judgements .coverage*
