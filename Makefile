# make          build build/sheaf
# make demo     a worked example in demo/, with a report to open in a browser
# make test     everything a change must pass: tests, format, clang-tidy, a minute of fuzzing (warnings are errors)
# make bench    the benchmarks of this machine
# make format   format the sources         make tidy    clang-tidy alone
# make docs     docs/commands.md from the program
# make clean    remove build/ and demo/
BUILD := build
WERROR := $(if $(CI),ON,OFF)
JOBS := $(shell nproc)

.PHONY: all build setup demo test bench format tidy docs clean

all: build

setup:
	@scripts/setup.sh

build: setup
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DSHEAF_WERROR=$(WERROR) > /dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) --target sheaf

demo: build
	@scripts/demo.sh $(BUILD)/sheaf

test:
	@scripts/setup.sh test
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DSHEAF_WERROR=ON
	@cmake --build $(BUILD) --parallel $(JOBS)
	@scripts/verify.sh $(BUILD)

bench: setup
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DSHEAF_WERROR=$(WERROR)
	@cmake --build $(BUILD) --parallel $(JOBS)
	@for program in $(BUILD)/bench_*; do [ -x "$$program" ] || continue; echo "== $$program"; "$$program" || exit 1; done

format:
	@scripts/setup.sh test
	@scripts/format.sh

tidy:
	@scripts/setup.sh test
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release > /dev/null
	@scripts/tidy.sh $(BUILD)

docs: build
	@scripts/manual.sh $(BUILD)/sheaf

clean:
	@rm -rf $(BUILD) demo
