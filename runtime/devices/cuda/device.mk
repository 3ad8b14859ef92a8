# The steps of the CUDA backend, which the top Makefile runs. CUDA_CHIPS lists the compute capabilities to generate
# machine code for (90, or 80;90): by default those of the GPUs that are present, in packages 90. The driver compiles PTX
# for all others when the plugin is loaded. With CUDA_FAST=ON kernels are not optimised, and compile several times as
# fast: for builds that only show that they compile, as `make test` does without a GPU.

DEVICES += cuda
CUDA_CHIPS ?= $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sort -u | paste -sd ';')
CUDA_FAST ?= OFF
test test-long: export CUDA_FAST := $(if $(CUDA_CHIPS),$(CUDA_FAST),ON)
packages: export CUDA_CHIPS := $(or $(CUDA_CHIPS),$(if $(filter OFF,$(CUDA_FAST)),90))

.PHONY: build-device-cuda
build-device-cuda: # out of tree, against the installed headers
	@if command -v nvcc >/dev/null; then \
		tools/build_device.sh cuda "-DCUDA_CHIPS=$(CUDA_CHIPS)" "-DCUDA_FAST=$(CUDA_FAST)"; \
	else \
		echo "cuda: not built, there is no nvcc"; \
	fi

# For a machine with a GPU. The logs are in build/cuda.
ON_GPU = PYTHON="$(CURDIR)/$(PYTHON)" runtime/devices/cuda/on_gpu.sh $(BUILD) $(BUILD)/cuda first
.PHONY: test-cuda bench-cuda bundle-cuda
test-cuda: build-tests vectors # all vectors on the GPU; SKIPPED where there is none
	@$(ON_GPU) vectors tests sanitize
bench-cuda: build $(VENV)/.test # against PyTorch and CuPy; writes benchmarks/results/<date>-cuda-<chip>
	@$(ON_GPU) bench && find $(BUILD)/cuda -name "*-cuda-*" -exec cp {} benchmarks/results \;
# What these steps need on another machine. CUDA_PYTHON is an interpreter of the version that the machine has.
bundle-cuda: build-tests vectors
	@runtime/devices/cuda/bundle.sh $(or $(CUDA_PYTHON),$(PYTHON))
