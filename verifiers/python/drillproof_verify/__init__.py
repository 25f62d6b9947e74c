"""A second verifier of drillproof evidence, written from docs/formats alone."""
