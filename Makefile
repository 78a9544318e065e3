# Everything on a fresh machine with Python 3.11 and make:
#   make demo   build every suite from the embedded samples, score the embedded model, and check it
#   make test   lint, types, tests
#   make kernels the numeric tests again with the kernels of an older processor
#   make bounds tests again with the lowest releases that setup.cfg allows (tests/bounds.txt)
#   make docs   the documents as a site in site/, every link checked
#   make bench  speed, memory and exactness beside other tools (benchmarks/README.md); BENCH="--items 400"
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
OUT ?= demo_out
BENCH ?=

.PHONY: demo test lint types pytest kernels coverage bounds format docs bench bench-pipeline build clean

$(VENV)/.installed: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: $(VENV)/.installed
	@$(BIN)/python -m benchmarks.demo $(OUT)

test: lint types pytest

lint: $(VENV)/.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.installed
	$(BIN)/mypy --strict src tests benchmarks examples

pytest: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2 --dist worksteal

# What they say of numbers holds on any processor.
kernels: $(VENV)/.installed
	ATEN_CPU_CAPABILITY=default $(BIN)/python -m pytest -n 2 tests/eval/hidden_states \
		tests/eval/forward tests/eval/surprisal tests/eval/tasks/detect/test_train_detector.py

# The tests again, with which lines they reach.
coverage: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term

# In an environment of its own; what tests/bounds.txt does not name is the newest that goes with it.
$(VENV)-bounds/.installed: setup.cfg pyproject.toml tests/bounds.txt
	$(PYTHON) -m venv $(VENV)-bounds
	$(VENV)-bounds/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-bounds/bin/python -m pip install --quiet --constraint tests/bounds.txt torch
	$(VENV)-bounds/bin/python -m pip install --quiet --constraint tests/bounds.txt \
		--editable '.[test,train]' peft setuptools
	touch $@

bounds: $(VENV)-bounds/.installed
	$(VENV)-bounds/bin/python -m pytest -n 2 tests/hub tests/eval tests/test_digests.py \
		tests/test_library.py tests/builders/test_publish.py

format: $(VENV)/.installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(VENV)/.installed-docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

docs: $(VENV)/.installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site
	@echo "The site is in site: open site/index.html"

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
	rm -rf build dist site *.egg-info demo_out suites results judgements benchmarks/out .coverage*
