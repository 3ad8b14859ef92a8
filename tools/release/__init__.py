"""Makes what a release has besides its packages: notices of third parties, checksums, a bill of materials."""
