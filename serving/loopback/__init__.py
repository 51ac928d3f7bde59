"""A stand-in for TF Serving, for development and tests: its gRPC and REST APIs over models in this process."""
