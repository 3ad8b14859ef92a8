"""The targets, one package each; `codegen.discover` finds them."""
