# The steps of the OpenCL backend, which the top Makefile runs.

DEVICES += opencl
DEMO_DEVICES += opencl

.PHONY: build-device-opencl
build-device-opencl: # out of tree, against the installed headers
	@tools/build_device.sh opencl
