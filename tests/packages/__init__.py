"""Tests of the packages: they are published to registries on this machine, and installed by name in bare roots."""
