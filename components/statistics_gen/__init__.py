"""Statistics of listwise examples."""
