#!/usr/bin/env bash
# Prints ON if sanitizers check pointers before each access, which is slow: with ONEFLOW_VECTORS=all. Otherwise OFF.
[ "${ONEFLOW_VECTORS:-}" = all ] && echo ON || echo OFF
