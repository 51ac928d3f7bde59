"""The paper's theorems with the constants of a run. Importing this package does not import TensorFlow."""
