"""Tests the Python front end, and the runtime through it."""
