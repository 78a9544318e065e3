# Two commands do everything on a fresh machine with Python 3.11 and make:
#   make demo   build every suite from the embedded samples and score the embedded model on them
#   make test   lint, types, tests
#   make bench  speed, memory and exactness beside other tools (benchmarks/README.md); BENCH="--items 400"
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
OUT ?= demo_out
BENCH ?=

.PHONY: demo test lint types pytest coverage format bench bench-pipeline build clean

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
	$(BIN)/mypy --strict src tests benchmarks

pytest: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2

# The tests again, with which lines they reach.
coverage: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term

format: $(VENV)/.installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(VENV)/.installed-bench: $(VENV)/.installed benchmarks/constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt \
		--constraint benchmarks/constraints.txt --editable '.[bench]'
	touch $@

bench: $(VENV)/.installed-bench
	@$(BIN)/python -m benchmarks $(BENCH)

bench-pipeline: $(VENV)/.installed
	@$(BIN)/python -m benchmarks.pipeline $(BENCH)

build: $(VENV)/.installed
	$(BIN)/python -m build

clean:
	rm -rf build dist *.egg-info demo_out suites results judgements benchmarks/out .coverage*
