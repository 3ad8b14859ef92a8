"""The generator: reads operator definitions and writes every file that depends on them. Run `python -m codegen`."""
