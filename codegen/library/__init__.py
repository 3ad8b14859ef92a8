"""Libraries of operators: shared libraries with the operators of a folder of records, beside those of oneflow itself.

`build.py` generates the sources of a library from its records, compiles them, and writes the library with a file of
declarations for each language. A library is compiled from the headers of the runtime, and works with the version of
oneflow that has the same: `fingerprint.py`.
"""
