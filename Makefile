# Every target sets up what it needs: a virtual environment with the pinned dependencies, nothing else.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=
# Many tests wait for processes they have started: one more than there are cores keeps all of them at work.
WORKERS ?= $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 2) + 1)")

.PHONY: demo test test-postgres lint format bench soak conformance reference lock clean

demo: $(READY)
	SHIRUBE_HOME="$${SHIRUBE_HOME:-$(CURDIR)/.demo}" $(BIN)/shirube demo $(ARGS)

test: $(READY)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

# The same tests with all data in PostgreSQL, which is started for them; TESTS names those that are to be run.
test-postgres: $(READY)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --store postgres $(TESTS) $(ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks.run $(ARGS)
	$(BIN)/python -m benchmarks.indexing
	$(BIN)/python -m benchmarks.patents
	$(BIN)/python -m benchmarks.programs
	$(BIN)/python -m benchmarks.answers
	$(BIN)/python -m benchmarks.serving
	$(BIN)/python -m benchmarks.laws
	$(BIN)/python -m benchmarks.pages

soak: $(READY)
	$(BIN)/python -m pytest -m soak --no-header $(ARGS)

# The official MCP suites; they come from npm.
conformance: $(READY)
	$(BIN)/python -m tests.conformance $(ARGS)

# docs/reference, made from the registry.
reference: $(READY)
	$(BIN)/python -m shirube.serve.reference docs/reference

# requirements.lock: versions and hashes of everything, extras included, and no address of where it came from.
lock: $(READY)
	$(BIN)/python -m pip install --quiet "pip-tools>=7.6"
	$(BIN)/pip-compile --quiet --all-extras --strip-extras --generate-hashes --allow-unsafe \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-header --no-annotate \
	  --output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) .demo .conformance build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache

$(READY): pyproject.toml requirements.lock
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "Python 3.11 or newer is needed (PYTHON=python3.12 make …)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)
