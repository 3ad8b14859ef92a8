# The OpenCL backend's steps; the top Makefile says when they run.

DEVICES += opencl

.PHONY: build-device-opencl
build-device-opencl: # out of tree, against the installed headers
	@tools/build_device.sh opencl
