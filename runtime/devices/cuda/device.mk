# The steps of the CUDA backend, which the top Makefile runs. CUDA_CHIPS lists the compute capabilities to generate
# machine code for (90, or 80;90): by default those of the GPUs that are present, in packages 90. The driver compiles PTX
# for all others when the plugin is loaded.

DEVICES += cuda
CUDA_CHIPS ?= $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sort -u | paste -sd ';')
packages: export CUDA_CHIPS := $(or $(CUDA_CHIPS),90)

.PHONY: build-device-cuda
build-device-cuda: # out of tree, against the installed headers
	@if command -v nvcc >/dev/null; then \
		tools/build_device.sh cuda "-DCUDA_CHIPS=$(CUDA_CHIPS)"; \
	else \
		echo "cuda: not built, there is no nvcc"; \
	fi

.PHONY: test-cuda bench-cuda
test-cuda: $(VENV)/.test # every vector on the GPU; SKIPPED where there is none
	@PYTHON="$(CURDIR)/$(PYTHON)" runtime/devices/cuda/on_gpu.sh test
bench-cuda: $(VENV)/.test # against PyTorch on the same GPU; writes benchmarks/results/<date>-cuda-<chip>
	@PYTHON="$(CURDIR)/$(PYTHON)" runtime/devices/cuda/on_gpu.sh bench
