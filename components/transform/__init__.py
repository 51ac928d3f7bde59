"""Transform: texts to vocabulary ids."""
