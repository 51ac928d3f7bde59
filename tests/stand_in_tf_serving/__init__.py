"""A stand-in for TF Serving, which cannot be run in tests: its gRPC and REST APIs over models in this process.

It has TF Serving's paths, JSON and errors. It forms no batches, watches no folder and has no metrics.
"""
