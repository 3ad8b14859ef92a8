"""PyTorch's own sample inputs of its operators, replayed with the operators of the same name."""
