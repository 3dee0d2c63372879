# The verbs: demo, test, lint, e2e, bench, dist. Everything is set up on first use, in .venv.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SPREAD := $(BIN)/kubectl-spread
RELEASE_VENV := build/release-venv
unexport PYTHONDONTWRITEBYTECODE # half of what finding the tests takes is compiling them

.PHONY: help demo test coverage lint format e2e oracle conformance-fuzz fuzz soak bench bench-large cluster large-cluster picture dist test-wheel clean

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable .
	@touch $@

$(VENV)/.developing: $(VENV)/.installed
	$(BIN)/pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(VENV)/.installed ## set up, then show the plugin at work on a bundled snapshot
	@echo '$$ kubectl spread why-pending -n shop --from examples/shop.yaml'
	@$(SPREAD) why-pending -n shop --from examples/shop.yaml || test $$? -eq 1
	@echo
	@echo '$$ kubectl spread show -n shop --from examples/shop.yaml'
	@$(SPREAD) show -n shop --from examples/shop.yaml
	@echo
	@echo '$$ kubectl spread check -f examples/checkout.yaml --from examples/shop.yaml'
	@$(SPREAD) check -f examples/checkout.yaml --from examples/shop.yaml

test: $(VENV)/.developing ## run the tests that need no cluster
	$(BIN)/pytest -m 'not e2e' -n auto --dist worksteal

coverage: $(VENV)/.developing ## run them again, counting branches: at least 95 in 100
	$(BIN)/pytest -q -m 'not e2e' -n auto --dist worksteal --cov --cov-report=term:skip-covered --cov-fail-under=95

lint: $(VENV)/.developing ## style, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.developing ## put the code in shape
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

e2e: $(VENV)/.developing ## run the tests against a real control plane, built once into a cache
	$(BIN)/python -m tests.controlplane build
	$(BIN)/pytest -m e2e -n 2 --dist loadfile --durations=25

oracle: $(VENV)/.developing ## build kube-scheduler's own framework as a program that answers cases
	$(BIN)/python -m tests.conformance.record oracle --release 1.36

SEED ?= 1
N ?= 2000
RELEASE ?= 1.36
conformance-fuzz: $(VENV)/.developing ## ask kube-scheduler and the engine the same fresh cases (SEED=1 N=2000 RELEASE=1.36)
	$(BIN)/python -m tests.conformance.fuzz --seed $(SEED) --count $(N) --release $(RELEASE)

SECONDS ?= 600
fuzz: $(VENV)/.developing ## give everything that reads what others wrote strange input (SECONDS=600 SEED=1)
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --seed $(SEED)

soak: $(VENV)/.developing ## run the proofs that take long, against a real control plane
	$(BIN)/python -m tests.controlplane build
	$(BIN)/python -m tests.soak

bench: $(VENV)/.developing ## measure start-up and the engine, as ratios within one run
	$(BIN)/python -m tests.bench.startup
	$(BIN)/python -m tests.bench.engine
	$(BIN)/python -m tests.bench.fixes

bench-large: $(VENV)/.developing ## measure questions to 5,000 nodes and 50,000 Pods beside the bare read of those; needs Go, openssl
	$(BIN)/python -m tests.bench.large measure

cluster: $(VENV)/.developing ## run a real control plane with the demo's shop until Ctrl-C; needs Go, openssl
	@exec $(BIN)/python -m tests.controlplane up --objects examples/shop.yaml \
	  --try 'kubectl spread why-pending -n shop' \
	  --try 'kubectl spread show -n shop' \
	  --try 'kubectl spread check -n shop -f $(CURDIR)/examples/checkout.yaml'

large-cluster: $(VENV)/.developing ## run an API server with 5,000 nodes and 50,000 Pods until Ctrl-C; needs Go, openssl
	@exec $(BIN)/python -m tests.bench.large up

picture: $(VENV)/.developing ## draw the picture of the README from the page itself; needs Chromium
	$(BIN)/python -m tests.e2e.picture

$(RELEASE_VENV)/.ready: release/requirements.txt
	$(PYTHON) -m venv --clear $(RELEASE_VENV)
	$(RELEASE_VENV)/bin/pip install --quiet --disable-pip-version-check --requirement release/requirements.txt
	@touch $@

dist: $(RELEASE_VENV)/.ready ## build into dist/: the archive for krew on this platform, its manifest, the wheel and the sdist
	$(RELEASE_VENV)/bin/python -m release.build

test-wheel: $(RELEASE_VENV)/.ready ## run the tests of `make test` against the wheel, installed away from the tree
	$(RELEASE_VENV)/bin/python -m release.check_wheel

clean: ## remove what was built
	rm -rf $(VENV) build dist *.egg-info
