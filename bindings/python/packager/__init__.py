"""Makes the packages for Python from build/payload: wheels that need no compiler, and the source package."""
