# Flexpath: everything a stranger needs is `make demo` and `make test`. `make` alone says what else there is.

CARGO_PROFILE := ci
PREFIX ?= /usr/local
DESTDIR ?=
# Words for the demo, as in `make demo DEMO=--short`.
DEMO ?=
# An ADIOS2 built with MPI, for rows of SST with several ranks; words for the peers' bench, as in PEERS=--quick.
ADIOS2_DIR ?=
PEERS ?=
# Words for the benches of the pipeline and of scale, as in PIPELINE=--quick.
PIPELINE ?=
SCALE ?=
# Words for the benches of the Python package, and for its tests, as in PYTEST="-k slices".
PYTHON_BENCH ?=
PYTEST ?=
# Words for the particles of a plasma, as in GTS="--particles 1000000".
GTS ?=
STAGING ?=
# Words for all benches of staging, as in BENCH_STAGING=--quick or BENCH_STAGING="stager boxes".
BENCH_STAGING ?=
# Words for the bench of the staging paper's figures, as in FIGURES=--full.
FIGURES ?=
# Whether the installed library can run WebAssembly that a subscriber hands over: yes or no.
DEPLOY ?= no
# Whether the program of `flexpath tee` is installed too: yes or no.
SINKS ?= no
# How many seeds the long simulation draws, and how many cases the long property tests.
SIM_SEEDS ?= 20000
PROPERTY_CASES ?= 512
export SIM_SEEDS PROPERTY_CASES
# The shards of `make test-all`, as in SHARDS="simulator licences"; all unless it says so.
SHARDS ?=
# Set where every commit is checked: what a test cannot find is then a failure, but for scripts/exceptions.txt.
FLEXPATH_REQUIRE_ALL ?=
export FLEXPATH_REQUIRE_ALL
# How long `make fuzz` fuzzes each target, in seconds; the targets, all unless it says so.
FUZZ_SECONDS ?= 600
TARGETS ?=
# The parts of `make bench`.
BENCHES := bench-streams bench-baselines bench-wire bench-calls bench-lammps bench-mpi

# rustup installs here, and a shell that was open before does not know it.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help tools quick test test-all shards fuzz test-rdma demo demo-gts demo-rdma demo-staging bench $(BENCHES) bench-peers bench-pipeline bench-scale bench-rdma bench-staging bench-stager bench-aggregation bench-emulated bench-figures bench-forwarding bench-boxes bench-watches bench-sinks test-sinks bench-python python test-python install uninstall lint doc

# $(call step,what it does,command): says it, does it, says how long it took.
define step
@printf '\n== %s\n' '$(1)'; from=$$(date +%s); \
( $(2) ); status=$$?; \
printf '== %s: %s s%s\n' '$(1)' "$$(($$(date +%s) - from))" "$$([ $$status -eq 0 ] || echo ", FAILED with status $$status")"; \
exit $$status
endef

# $(call optional,what it does,command): the same, but that status 77 is no failure: it was skipped, and has not passed either.
define optional
@printf '\n== %s\n' '$(1)'; from=$$(date +%s); \
( $(2) ); status=$$?; \
case $$status in 0) word= ;; 77) word=', skipped: it has not passed' status=0 ;; *) word=", FAILED with status $$status" ;; esac; \
printf '== %s: %s s%s\n' '$(1)' "$$(($$(date +%s) - from))" "$$word"; \
exit $$status
endef

help: ## this list
	@printf 'make quick     format, lints, and the tests that take seconds: what you run while you work\n'
	@printf 'make demo      a live LAMMPS run, and analytics that come and go (installs LAMMPS, Open MPI and a Python environment if they are missing)\n'
	@printf 'make demo-gts  particles of a fusion plasma, and analytics that count them where they are: histograms, parallel coordinates\n'
	@printf 'make demo-staging  a stream that outlives its network: a stager that spills, a way that is cut, an analysis that is killed, a Zarr store (installs libhdf5-dev and a Python environment)\n'
	@printf 'make test      format, lints, all tests, documentation (installs compilers of C and Fortran, Open MPI and Rust if they are missing)\n'
	@printf 'make test-all  what takes long, in shards that all run though one fails; SHARDS="a b" for some, make shard-a for one\n'
	@printf 'make shards    the names of the shards, their seconds, and what they need\n'
	@printf 'make fuzz      fuzzes everything that reads bytes or texts from outside, each target ten minutes (installs cargo-fuzz)\n'
	@printf 'make test-rdma RDMA in a virtual machine with soft-RoCE: links, streams, flexpath doctor (installs qemu; part of test-all)\n'
	@printf 'make bench-rdma links over RDMA next to perftest in that machine, as ratios\n'
	@printf 'make bench-forwarding  a stream from one network to another, beside scp and iperf3\n'
	@printf 'make bench-staging all figures of staging, three quarters of an hour: stager, forwarding, figures (also over RDMA that is emulated), aggregation, boxes, sinks, a long wire; BENCH_STAGING=--quick shows that it works\n'
	@printf 'make bench-stager  a stream through a stager: speed of its disk, a slow subscriber, its memory\n'
	@printf 'make bench-aggregation  aggregators, ranks and staging nodes between two hosts, beside POSIX and MPI-IO (installs Open MPI)\n'
	@printf 'make bench-figures data sets into a stager by block, ranks and size, beside scp, rsync and ssh -L (installs sshd, rsync); FIGURES=--full for 5 GiB\n'
	@printf 'make bench-emulated  a data set into a stager over RDMA, in a virtual machine whose device is emulated (installs qemu)\n'
	@printf 'make bench-boxes  an array in many small boxes, beside one box a rank\n'
	@printf 'make bench-watches  subscribers with conditions: when they are told, what that costs, beside bounds\n'
	@printf 'make test-sinks  flexpath tee: what it writes, read by others (installs libhdf5-dev and a Python environment)\n'
	@printf 'make bench-sinks  streams into Zarr and HDF5, beside one process that writes the same array\n'
	@printf 'make demo-rdma the demo, at its smallest, over RDMA in that machine (some ten minutes)\n'
	@printf 'make bench     speed and memory, as ratios to baselines measured in the same run\n'
	@printf 'make bench-peers  the same beside SST, MPI, UCX, iceoryx2, Zenoh and HDF5, which it installs (ADIOS2_DIR=... for SST with MPI)\n'
	@printf 'make bench-pipeline  the demo through streams beside the same through HDF5 files, by ranks of LAMMPS (installs LAMMPS, Open MPI, libhdf5-dev)\n'
	@printf 'make bench-scale  256 x 16 processes for real, and up to 131,072 x 8,192 ranks simulated\n'
	@printf 'make python    the Python package: builds its wheel and installs it into target/python/venv (needs Python 3.11)\n'
	@printf 'make test-python  the same, then tests it there: pytest, types, stubs, the examples of docstrings; PYTEST="-k slices" for some\n'
	@printf 'make bench-python  what Python costs, as ratios to Rust in the same run\n'
	@printf 'make install   the command flexpath and the library for C, C++ and Fortran, to PREFIX (%s); DEPLOY=yes with WebAssembly, SINKS=yes with flexpath tee, and SINKS=s3 with buckets of S3 too, which take minutes more\n' '$(PREFIX)'
	@printf 'make uninstall removes what was installed there\n'
	@printf 'make lint      format and lints alone\n'
	@printf 'make doc       the documentation of all crates, in target/doc\n'

tools:
	$(call step,tools: what the build needs,scripts/install-build-tools.sh)

lint: tools
	$(call step,format,cargo fmt --all --check)
	$(call step,lints,cargo clippy --profile $(CARGO_PROFILE) --workspace --all-targets -- -D warnings)
	$(call step,lints without features,cargo clippy --profile $(CARGO_PROFILE) -p flexpath -p flexpath-core --no-default-features --lib -- -D warnings)

doc: tools
	$(call step,documentation,RUSTDOCFLAGS="-D warnings" cargo doc --profile $(CARGO_PROFILE) --workspace --no-deps)

# What `make quick` leaves out, by words of their names: tests under MPI, on LAMMPS, and under valgrind.
QUICK_WITHOUT := all_ranks_are_told both_sides_in_one_run makes_a_cohort_of ranks_publish_to under_mpi \
    boxes_come_and_go_and_every_cell the_driver_publishes_every_atom lammps_is_watched of_lammps all_ranks_may_stop \
    costs_what_it_did steps_cost_what

# What was not changed is not built anew: the features are those of `make test`.
quick: lint
	$(call step,tests,cargo test --profile $(CARGO_PROFILE) --workspace --no-fail-fast -- $(addprefix --skip ,$(QUICK_WITHOUT)))

# Before a command that runs tests: what must be there. Always MPI and clang, which are installed; or all.
REQUIRED := $(if $(FLEXPATH_REQUIRE_ALL),scripts/required.sh run,env FLEXPATH_REQUIRE_MPI=1 FLEXPATH_REQUIRE_CLANG=1)

test: lint
	$(call step,MPI: Open MPI and its compilers,scripts/install-mpi.sh openmpi)
	$(call step,valgrind: it counts instructions,scripts/required.sh part valgrind scripts/install-valgrind.sh)
ifneq ($(FLEXPATH_REQUIRE_ALL),)
	$(call step,LAMMPS as a library,scripts/required.sh part lammps scripts/install-demo.sh)
	$(call step,C headers of verbs,scripts/required.sh part verbs-headers scripts/install-verbs-headers.sh)
	$(call step,an RDMA device,scripts/required.sh part verbs sh -c "ls /sys/class/infiniband/* >/dev/null 2>&1 || exit 77")
endif
	$(call step,tests,$(REQUIRED) cargo test --profile $(CARGO_PROFILE) --workspace --no-fail-fast)
	$(call step,documentation,RUSTDOCFLAGS="-D warnings" cargo doc --profile $(CARGO_PROFILE) --workspace --no-deps)

# Each shard says what it needs, and none keeps the others from running: see scripts/shards.sh.
test-all: tools
	@scripts/shards.sh run $(SHARDS)

shard-%: tools
	@scripts/shards.sh run $*

shards:
	@scripts/shards.sh list

fuzz: tools
	$(call step,cargo-fuzz,scripts/install-fuzz.sh)
	$(call step,everything that reads bytes from outside,scripts/fuzz.sh $(FUZZ_SECONDS) $(TARGETS))

# Fails where it is skipped (status 77): what was not tested has not passed.
test-rdma: tools
	$(call step,RDMA in a virtual machine,tests/rdma-vm/test.sh)

# As above.
demo-rdma: tools
	$(call step,the demo over RDMA,scripts/install-demo.sh || true; tests/rdma-vm/demo.sh)

bench-pipeline: tools
	$(call step,the pipeline through streams and through files,scripts/bench/pipeline.sh $(PIPELINE))

bench-scale: tools
	$(call step,many ranks for real and simulated,scripts/bench/scale.sh $(SCALE))

python: tools
	$(call step,Python: a virtual environment,scripts/install-python.sh)
	$(call step,the wheel,scripts/python.sh wheel)

test-python: python
	$(call step,Python: format; lints; types,scripts/python.sh lint)
	$(call step,Python: tests,scripts/python.sh test $(PYTEST))

bench-python: python
	$(call step,what Python costs,scripts/python.sh bench $(PYTHON_BENCH))

# All figures of staging, one part after the other, and their tables; BENCH_STAGING=--quick shows in minutes that it works.
bench-staging: tools
	@scripts/bench/staging.sh $(BENCH_STAGING)

bench-stager bench-aggregation bench-emulated: bench-%: tools
	@scripts/bench/staging.sh $*

# Without rsync its rows are left out.
bench-figures: tools
	$(call optional,data sets into a stager,scripts/install-sshd.sh || exit 77; scripts/install-rsync.sh || [ $$? -eq 3 ] || exit 1; cargo build --release -p flexpath-cli && scripts/bench/record.py figures cargo bench -p flexpath --bench figures -- $(FIGURES))

bench-forwarding: tools
	$(call optional,a stream from one network to another,scripts/install-iperf3.sh && scripts/install-sshd.sh || exit 77; cargo build --release -p flexpath-cli && scripts/bench/record.py forwarding cargo bench -p flexpath --bench forwarding)

test-sinks: tools
	$(call step,HDF5,scripts/install-hdf5.sh)
	$(call step,what reads what was written,scripts/install-sinks.sh)
	$(call step,flexpath tee: format; lints,scripts/sinks.sh lint)
	$(call step,flexpath tee: tests,scripts/sinks.sh test)

bench-sinks: tools
	$(call step,HDF5,scripts/install-hdf5.sh)
	$(call step,streams into files,scripts/bench/record.py sinks scripts/sinks.sh bench)

bench-boxes: tools
	$(call step,an array in many boxes,scripts/bench/record.py boxes cargo bench -p flexpath --bench boxes)

bench-watches: tools
	$(call step,subscribers with conditions,scripts/bench/record.py watches sh -c "cargo bench -p flexpath --bench watches && cargo bench -p flexpath-sim --bench watching && cargo bench -p flexpath-cli --bench pictures")

bench-rdma: tools
	$(call step,links over RDMA next to perftest,tests/rdma-vm/bench.sh)

demo: tools
	@scripts/demo.sh $(DEMO)

demo-gts: tools
	$(call step,particles of a plasma,cargo run --profile $(CARGO_PROFILE) -p flexpath-demo --bin gts -- $(GTS))

demo-staging: tools
	$(call step,HDF5,scripts/install-hdf5.sh)
	$(call step,xarray and what else reads what was written,scripts/install-sinks.sh)
	$(call step,build,cargo build --profile $(CARGO_PROFILE) -p flexpath-cli && scripts/sinks.sh build)
	$(call step,a stream that outlives its network,cargo run --profile $(CARGO_PROFILE) -p flexpath-demo --bin staging -- --tee target/sinks/ci/flexpath-tee --python target/sinks-venv/bin/python $(STAGING))

# A part that fails does not keep the others from being measured.
bench: tools
	@$(MAKE) --no-print-directory --keep-going $(BENCHES)

bench-streams:
	$(call step,streams by size beside the floors of the machine,scripts/bench/matrix.sh)

bench-baselines:
	$(call step,streams beside baselines by hand,cargo bench -p flexpath --bench spine -- --rounds 3 --budget 180 --json "$(CURDIR)/docs/performance/spine.json")

bench-wire:
	$(call optional,a long wire,scripts/install-iperf3.sh || exit 77; scripts/bench/record.py wan cargo bench -p flexpath --bench wan)

bench-calls:
	$(call step,calls of C and Fortran; conversions; geometry; messages and machines; typed access; derivations,scripts/bench/record.py calls cargo bench -p flexpath-ffi && cargo bench -p flexpath-types && cargo bench -p flexpath-proto && cargo bench -p flexpath --bench typed && cargo bench -p flexpath-transform --features wasm)

bench-lammps:
	$(call optional,what publishing costs LAMMPS,scripts/bench/record.py lammps scripts/check-lammps.sh speed)

bench-mpi:
	$(call step,build for the benches under MPI,cargo build --release -p flexpath-ffi && scripts/install-library.sh target/release "$(CURDIR)/target/bench-install")
	$(call step,opening over 64 ranks under MPI,scripts/bench/record.py opening benches/mpi/opening.sh "$(CURDIR)/target/bench-install" 64 openmpi mpich)

bench-peers: tools
	$(call step,beside the peers,ADIOS2_DIR="$(ADIOS2_DIR)" scripts/bench/peers.sh $(PEERS))

install: tools
	$(call step,build and install to $(DESTDIR)$(PREFIX),DEPLOY="$(DEPLOY)" SINKS="$(SINKS)" scripts/install.sh install "$(PREFIX)" "$(DESTDIR)")

uninstall:
	$(call step,remove what was installed to $(DESTDIR)$(PREFIX),scripts/install.sh uninstall "$(PREFIX)" "$(DESTDIR)")
