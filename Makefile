# Every target sets up .venv first, so a clone needs no other preparation: `make test` works in an empty folder.

python := .venv/bin/python
# Many tests wait, for a process that starts or a job of Spark: twice as many workers as there are processors.
workers := $$($(python) -c 'import os; print(2 * (os.cpu_count() or 1))')

.DEFAULT_GOAL := help
.PHONY: help setup setup-core setup-adapters demo test compiled coverage lint format bench soak mutants clean

help:     ## show this list
	@sed -n 's/^\([a-z-]*\): .*## /\1\t/p' Makefile | while IFS='	' read -r name text; do printf '  make %-14s %s\n' "$$name" "$$text"; done

setup:    ## make .venv with everything in it; fetches only what is missing (PYTHON=... picks the interpreter)
	@sh scripts/set_up.sh

setup-core:    ## make .venv with what `pointstamp check` needs, in seconds: without Spark and the tools to develop
	@sh scripts/set_up.sh core

setup-adapters: setup    ## make .venv-adapters with the tools whose graphs `pointstamp check --from` reads
	@sh scripts/set_up_adapters.sh

demo: setup-core    ## check a good and a bad graph, and explain the bad one
	@sh examples/demo.sh

# What tests need besides the set-up is made side by side.
test: setup    ## lint, then every test but the soak
	$(MAKE) --no-print-directory --jobs 3 lint setup-adapters compiled
	env -u PYTHONDONTWRITEBYTECODE $(python) -m pytest -m "not soak" -n $(workers) --dist loadfile --no-loadscope-reorder

# The tests start hundreds of interpreters and dozens of JVMs, which keep nothing that they compile: so all is compiled before,
# the tests themselves once instead of once a worker.
compiled: setup    ## compile what the tests import, before they start
	env -u PYTHONDONTWRITEBYTECODE $(python) -m compileall -q pointstamp progress recursion graphs benchmarks
	$(python) -c 'from tests.spark.small_jvm import start_small; start_small()' & \
		env -u PYTHONDONTWRITEBYTECODE $(python) -m pytest --collect-only -q >/dev/null; wait

coverage: setup    ## how much of the core its tests reach, branches included; fails below the floor in .coveragerc
	$(python) -m pip --disable-pip-version-check install --quiet --upgrade --target build/coverage coverage==7.17.3
	PYTHONPATH=build/coverage $(python) -m coverage run -m pytest -q -m "not spark and not soak and not slow" \
		tests/questions tests/tracking tests/files tests/project/test_docstrings.py tests/project/test_notebooks.py
	PYTHONPATH=build/coverage $(python) -m coverage report

lint: setup    ## ruff and strict mypy
	$(python) -m ruff check .
	$(python) -m ruff format --check .
	$(python) -m mypy

format: setup    ## let ruff mend what it can
	$(python) -m ruff check --fix .
	$(python) -m ruff format .

bench: setup setup-adapters    ## measure what the documentation claims
	$(python) -m benchmarks
	$(python) -m benchmarks.agent_joins
	$(python) -m benchmarks.operators
	$(python) -m benchmarks.streams
	$(python) -m benchmarks.encoding
	$(python) -m benchmarks.durable_latency
	$(python) -m benchmarks.durable_holds
	$(python) -m benchmarks.at_scale
	$(python) -m benchmarks.pipelines_on_spark
	$(python) -m benchmarks.tables_on_spark
	$(python) -m benchmarks.partitions
	$(python) -m benchmarks.components
	$(python) -m benchmarks.sorter
	$(python) -m benchmarks.live_view
	$(python) -m benchmarks.adapters
	$(python) -m benchmarks.drawing

soak: setup    ## the long runs: random cases by the hundred thousand, the kernel under sanitizers, then the mutants
	HYPOTHESIS_PROFILE=soak $(python) -m pytest -m soak
	$(python) -m tests.project.sanitized
	$(python) -m tests.project.mutants

mutants: setup    ## break the algorithms on purpose; the tests must notice each time
	$(python) -m tests.project.mutants

clean:    ## remove caches and build products; .venv stays
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist *.egg-info progress/_kernel*.so
	find . -path ./.venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
