# The Python front end's steps; the top Makefile says when they run.

BINDINGS += python
PYTHON_TESTS := bindings/python/generated/tests tests/python

.PHONY: before-build-python build-python test-python demo-python package-python lint-python

before-build-python: # Python's headers come with its Debian package

build-python: # CMake has put the package together; the environment only has to find it
	@$(PYTHON) bindings/python/link_package.py $(BUILD)/python
	@$(PYTHON) -c "import oneflow_py"

test-python: # examples and error cases of the records, vectors, PyTorch, interop, threads, stubs
	@$(PYTHON) -m pytest -p no:cacheprovider $(PYTHON_TESTS)

demo-python:
	@$(PYTHON) examples/digits/digits.py

package-python: # a wheel that installs without a compiler, and the sources for everything else
	@$(PYTHON) bindings/python/package.py --build $(BUILD) --dist dist

lint-python:
	@$(PYTHON) -m mypy --strict --no-error-summary bindings/python/link_package.py bindings/python/package.py
