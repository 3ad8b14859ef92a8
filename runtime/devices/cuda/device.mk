# The steps of the CUDA backend, which the top Makefile runs. CUDA_CHIPS lists the compute capabilities to generate
# machine code for (90, or 80;90); drivers compile PTX for all others. If it is empty, the backend is not built.

DEVICES += cuda
CUDA_CHIPS ?= 90

.PHONY: build-device-cuda
build-device-cuda: # out of tree, against the installed headers
	@if [ -z "$(CUDA_CHIPS)" ]; then \
		echo "cuda: not built, CUDA_CHIPS is empty"; \
	elif ! command -v nvcc >/dev/null; then \
		echo "cuda: not built, there is no nvcc"; \
	else \
		tools/build_device.sh cuda "-DCUDA_CHIPS=$(CUDA_CHIPS)"; \
	fi

.PHONY: test-cuda bench-cuda
test-cuda: $(VENV)/.test # every vector on the GPU; SKIPPED where there is none
	@PYTHON="$(CURDIR)/$(PYTHON)" runtime/devices/cuda/on_gpu.sh test
bench-cuda: $(VENV)/.test # against PyTorch on the same GPU; writes benchmarks/results/<date>-cuda-<chip>
	@PYTHON="$(CURDIR)/$(PYTHON)" runtime/devices/cuda/on_gpu.sh bench
