"""Tests of the Python front end, and through it of the runtime."""
