# Two commands matter: `make demo` shows the product, `make test` proves it. Each sets up what it needs.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/
READY  := $(VENV)/.ready

.PHONY: help setup demo quick test check format lint types reference reference-check soak bench judges wires lock clean
.DEFAULT_GOAL := help

help: ## what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(READY): pyproject.toml constraints.txt
	@echo "==> setting up $(VENV) (once; about half a minute)"
	@$(PYTHON) -m venv $(VENV)
	@# The pip that comes with Python may be an old one, whose scripts take a third longer to start.
	@PIP_CONSTRAINT=constraints.txt $(RUN)python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@PIP_CONSTRAINT=constraints.txt $(RUN)python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

setup: $(READY) ## make the virtual environment

demo: $(READY) ## a tour with the built-in model: no key, no network
	@$(RUN)greenroom demo

test: $(READY) ## the whole test suite, on all cores
	@echo "==> tests" && $(RUN)python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder

quick: $(READY) ## what a change to a core or a dialect needs, in under a minute
	@echo "==> actors, transports, architecture" && $(RUN)python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder \
		tests/actors tests/transports tests/test_architecture.py --ignore tests/transports/bridge/test_real_daemon.py

format: $(READY) ## format the code
	@$(RUN)ruff format . && $(RUN)ruff check --fix --quiet .

lint: $(READY)
	@echo "==> format and lint" && $(RUN)ruff format --check --quiet . && $(RUN)ruff check .

types: $(READY)
	@echo "==> types" && $(RUN)mypy

reference: $(READY) ## write every generated page anew
	@$(RUN)python -m tools.reference docs

reference-check: $(READY)
	@echo "==> generated pages"
	@$(RUN)python -m tools.reference --check docs

check: lint types reference-check test ## everything that must be green: format, lint, types, generated pages, tests

soak: $(READY) ## the long repetitions of the fault tests
	@$(RUN)python -m pip install --quiet --disable-pip-version-check 'atheris==3.0.0' || echo "no atheris for this Python: fuzzing by coverage is left out"
	@echo "==> properties, with a thousand examples" && $(RUN)python -m pytest -q -m "hypothesis and not soak" --hypothesis-profile thorough --timeout 1800 -n auto
	@echo "==> side by side: most of them wait" && $(RUN)python -m pytest -m "soak and not quiet" --timeout 1800 -n 3 --maxschedchunk 1
	@echo "==> one after the other: they measure" && $(RUN)python -m pytest -m "soak and quiet" --timeout 1800 --add-to-report

bench: $(READY) ## the figures next to their floors, in one table
	@$(RUN)python -m bench

judges: $(READY) ## clients and suites from elsewhere judge the MCP server and the ACP agent
	@cd tests/judges && npm install --no-audit --no-fund --silent
	@$(PYTHON) -m venv tests/judges/.venv
	@tests/judges/.venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/judges/requirements.txt
	@$(PYTHON) -m venv tests/judges/.venv-langchain
	@tests/judges/.venv-langchain/bin/python -m pip install --quiet --disable-pip-version-check -r tests/judges/requirements-langchain.txt
	@JUDGES_WRITE=1 $(RUN)python -m pytest tests/judges

wires: $(READY) ## scenarios and judges with a model behind each wire; chat is what `make test` has
	@for wire in responses messages; do \
		echo "==> $$wire" && TEST_WIRE=$$wire $(RUN)python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder tests/scenarios tests/judges || exit 1; \
	done

lock: ## pin the newest versions that fit pyproject.toml
	@rm -rf .lock-venv && $(PYTHON) -m venv .lock-venv
	@.lock-venv/bin/python -m pip install --quiet --upgrade pip
	@.lock-venv/bin/python -m pip install --quiet -e '.[dev]' editables
	@.lock-venv/bin/python -m pip freeze --all --exclude-editable --exclude setuptools --exclude wheel > .lock-new && mv .lock-new constraints.txt
	@rm -rf .lock-venv

clean: ## remove what the commands made
	@rm -rf $(VENV) tests/judges/.venv tests/judges/.venv-langchain tests/judges/node_modules build .mypy_cache .ruff_cache .pytest_cache .hypothesis
