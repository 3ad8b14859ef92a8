# The steps of the Python front end; the top Makefile runs them.

BINDINGS += python
PYTHON_TESTS := bindings/python/generated/tests tests/python tests/samples

.PHONY: before-build-python build-python test-python package-python install-python stable-python demo-python train-python gallery-python lint-python

before-build-python: # nothing to do: Python's headers come with its Debian package

build-python: # CMake has assembled the package; this makes it importable in the environment
	@$(PYTHON) bindings/python/link_package.py $(BUILD)/python
	@$(PYTHON) -c "import oneflow_py"

test-python: # examples and error cases of the records, conformance vectors, PyTorch, interop, threads, stubs
	@$(PYTHON) -m pytest -p no:cacheprovider -p no:logging $(PYTHON_TESTS)

packages: stable-python
stable-python: build # the extension for later versions of Python, if one of them is found
	@cmake --build $(BUILD) --target oneflow_python_packaged

package-python: # wheels that install without a compiler, one for each device plugin, and the sources for everything else
	@rm -rf dist/python
	@$(PYTHON) bindings/python/package.py --build $(BUILD) --dist dist/python

install-python: package-python # installs the package and its device plugins into an empty environment
	@python3 -m venv --clear $(INSTALLED)/python
	@$(INSTALLED)/python/bin/python -m pip install -q --disable-pip-version-check --no-index --find-links dist/python \
		"oneflow-py[$$(ls $(BUILD)/payload/devices | paste -sd ,)]"

demo-python:
	@$(INSTALLED)/python/bin/python examples/devices/devices.py
	@$(INSTALLED)/python/bin/python examples/digits/digits.py $(DEMO_OPTIONS)

train-python:
	@$(INSTALLED)/python/bin/python examples/train/train.py $(TRAIN_OPTIONS)

gallery-python:
	@$(PYTHON) examples/einsum/gallery.py

lint-python:
	@$(PYTHON) -m mypy --strict --no-error-summary bindings/python/link_package.py bindings/python/package.py
