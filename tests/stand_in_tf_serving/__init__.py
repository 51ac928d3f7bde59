"""A stand-in for TF Serving: its gRPC and REST APIs over models in this process."""
