# The steps of the OpenCL backend, which the top Makefile runs.

DEVICES += opencl
DEMO_DEVICES += opencl

# PoCL, the driver of the tests, spends most of their time on optimising the kernels. tests/whole/test_opencl.py and
# `make test-long` run them optimised.
test-%: export POCL_EXTRA_BUILD_FLAGS ?= -cl-opt-disable
test-long: export POCL_EXTRA_BUILD_FLAGS :=

.PHONY: build-device-opencl
build-device-opencl: # out of tree, against the installed headers
	@tools/build_device.sh opencl
