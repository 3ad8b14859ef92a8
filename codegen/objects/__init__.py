"""Classes of objects: records under `opdefs/classes/`, from which each language gets its classes."""
