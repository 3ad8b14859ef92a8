# The CUDA backend's steps; the top Makefile says when they run. CUDA_ARCHITECTURES names the chips to build for, as CMake
# spells them: machine code for the ones that are measured, PTX that the driver compiles for all others. Empty: none.

DEVICES += cuda
CUDA_ARCHITECTURES ?= 90-real;75-virtual

.PHONY: build-device-cuda
build-device-cuda: # out of tree, against the installed headers
	@if [ -z "$(CUDA_ARCHITECTURES)" ]; then \
		echo "cuda: not built, CUDA_ARCHITECTURES is empty"; \
	elif ! command -v nvcc >/dev/null; then \
		echo "cuda: not built, there is no nvcc"; \
	else \
		tools/build_device.sh cuda "-DCMAKE_CUDA_ARCHITECTURES=$(CUDA_ARCHITECTURES)"; \
	fi

.PHONY: test-cuda bench-cuda
test-cuda: $(VENV)/.test # every vector on the GPU; SKIPPED where there is none
	@PYTHON="$(CURDIR)/$(PYTHON)" runtime/devices/cuda/on_gpu.sh test
bench-cuda: $(VENV)/.test # against PyTorch on the same GPU; writes benchmarks/results/<date>-cuda-<chip>
	@PYTHON="$(CURDIR)/$(PYTHON)" runtime/devices/cuda/on_gpu.sh bench
