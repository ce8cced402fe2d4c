# make          build build/sheaf
# make demo     a worked example in demo/, with a report to open in a browser
# make python   build the Python package in build/python; install it with pip install ./python --no-build-isolation
# make r        build the R package in build/r/library; it says how to install it for good
# make test     build and run all tests
# make check    format, documents, layers, clang-tidy and a minute of fuzzing, on what differs from the main branch
# make fuzz     fuzz all targets in turn, MINUTES=n (default 10)
# make weekly   sanitizers, assertions, fuzzing, comparisons with other programs: hours
# make packages Debian packages, a Python wheel and its sources, an R package: build/packages
# make site     the pages of docs/ as one site: build/site/html
# make bench    the benchmarks of this machine
# make format   format the sources         make tidy    clang-tidy over all files
# make docs     docs/commands.md from the program
# make clean    remove build/ and demo/
# CUDA=on       for GPUs too, where the machine that builds has none
# CI=1          warnings are errors, as for continuous integration
BUILD := build
WERROR := $(if $(CI),ON,OFF)
JOBS := $(shell nproc)
PYTHON ?= /usr/bin/python3
CACHE := $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
export CCACHE_SLOPPINESS ?= pch_defines,time_macros
# Compiling for GPUs takes longer than all the rest: done where there is one, elsewhere with CUDA=on.
CUDA := $(if $(wildcard /dev/nvidiactl /dev/dxg),auto,off)
# Hot loops for this machine and the baseline; for all machines in packages and continuous integration.
MACHINES := $(if $(CI),all,this)
packages: MACHINES := all
CONFIGURE = cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DSHEAF_CUDA=$(CUDA) -DSHEAF_MACHINES=$(MACHINES) $(CACHE)

.PHONY: all build setup demo python r test check fuzz weekly packages site bench format tidy docs clean

all: build

setup:
	@scripts/setup.sh

build: setup
	@$(CONFIGURE) -DSHEAF_WERROR=$(WERROR) > /dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) --target sheaf

demo: build
	@scripts/demo.sh $(BUILD)/sheaf

python:
	@scripts/setup.sh python
	@$(CONFIGURE) -DSHEAF_WERROR=$(WERROR) -DSHEAF_PYTHON=on > /dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) --target sheaf_python

r:
	@scripts/setup.sh r
	@$(CONFIGURE) -DSHEAF_WERROR=$(WERROR) -DSHEAF_R_PACKAGE=on > /dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) --target sheaf_r sheaf_r_vignettes
	@echo "The R package is in $(BUILD)/r/library: R_LIBS=$(BUILD)/r/library R"
	@echo "To install it for good: cmake --install $(BUILD) --prefix FOLDER && export SHEAF_HOME=FOLDER && R CMD build r && R CMD INSTALL sheaf_*.tar.gz"

test:
	@scripts/setup.sh test
	@$(CONFIGURE) -DSHEAF_WERROR=$(WERROR)
	@cmake --build $(BUILD) --parallel $(JOBS) --target tests
	@scripts/test.sh $(BUILD)

check:
	@scripts/setup.sh test
	@$(CONFIGURE) -DSHEAF_WERROR=$(WERROR) > /dev/null
	@scripts/check.sh $(BUILD)

fuzz:
	@scripts/setup.sh test
	@scripts/fuzz.sh $$(( $(or $(MINUTES),10) * 60 ))

weekly:
	@scripts/setup.sh test
	@scripts/weekly.sh $(MINUTES)

packages:
	@scripts/setup.sh packages
	@$(CONFIGURE) -DSHEAF_WERROR=$(WERROR) > /dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) --target sheaf sheaf_shared sheaf_texts sheaf_python sheaf_r_vignettes
	@packaging/make.sh $(BUILD)

site: python
	@scripts/setup.sh site
	@$(PYTHON) docs/site/make.py $(BUILD)

bench: setup
	@$(CONFIGURE) -DSHEAF_WERROR=$(WERROR)
	@cmake --build $(BUILD) --parallel $(JOBS)
	@for program in $(BUILD)/bench_*; do [ -x "$$program" ] || continue; echo "== $$program"; "$$program" || exit 1; done

format:
	@scripts/setup.sh test
	@scripts/format.sh

tidy:
	@scripts/setup.sh test
	@$(CONFIGURE) > /dev/null
	@scripts/tidy.sh $(BUILD)

docs: build
	@scripts/manual.sh $(BUILD)/sheaf

clean:
	@rm -rf $(BUILD) demo
