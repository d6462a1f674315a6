# Everything a newcomer or a CI machine needs. Each target makes its prerequisites.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo torch test check lint types format bench figures campaign fuzz pictures clean

help: ## show the targets
	@grep -E '^[a-z]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

# Stamps: reinstall only if pyproject.toml has changed. A module is compiled if it is imported.
$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[local]'
	@touch $@

$(VENV)/.dev: $(VENV)/.demo pyproject.toml
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

$(VENV)/.torch: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable . --group torch
	@touch $@

demo: $(VENV)/.demo ## run the demo experiment on the sample data with real models, write demo-report.html
	$(BIN)/ragstone models fetch all-minilm-l6-v2 smollm2-135m-instruct
	$(BIN)/ragstone run demo
	$(BIN)/ragstone report demo --output demo-report.html

torch: $(VENV)/.torch ## install the packages for the tests of torch models (1.1 GB)

test: $(VENV)/.dev ## run every test whose packages are installed, and list the others
	$(BIN)/ragstone models fetch
	-$(BIN)/ragstone models fetch e5-small  # Linux alone; elsewhere its tests are skipped
	$(BIN)/python -m pytest --numprocesses auto --quiet

lint: $(VENV)/.dev ## check format, lint rules and phrases
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python tools/plain_english.py

types: $(VENV)/.dev ## check types, strictly
	$(BIN)/mypy

check: lint types test ## lint, types and tests: what CI runs

format: $(VENV)/.dev ## format the code and repair lint findings
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev ## run the short benchmarks (ten minutes); AGAINST=last names what became slower
	$(BIN)/python benchmarks/bench.py $(if $(AGAINST),--against $(AGAINST))

figures: $(VENV)/.dev ## run the commands behind the published figures, list those that no longer hold
	$(BIN)/python benchmarks/figures.py

campaign: $(VENV)/.dev ## run the long benchmarks and campaigns (an hour or two)
	$(BIN)/python benchmarks/bench.py --campaign $(if $(AGAINST),--against $(AGAINST))

N ?= 2000
fuzz: $(VENV)/.dev ## read N=2000 malformed inputs of each kind, keep those that fail; SEED=1 for others
	$(BIN)/python benchmarks/fuzz.py --inputs $(N) --seed $(or $(SEED),0) --folder fuzz-found

pictures: $(VENV)/.dev ## draw the pictures of the docs in a real browser
	$(BIN)/python tools/pictures.py

clean: ## remove the environment, the store and the demo report; models stay in the cache
	rm -rf $(VENV) .ragstone demo-report.html
