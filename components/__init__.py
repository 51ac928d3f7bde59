"""TFX components, one folder a stage. They meet only through artifacts."""
