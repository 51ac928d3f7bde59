"""What the paper proves, with the constants of a run. Importing it does not import TensorFlow."""
