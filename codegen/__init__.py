"""The generator: operator definitions in, everything that depends on them out. Run it with `python -m codegen`."""
