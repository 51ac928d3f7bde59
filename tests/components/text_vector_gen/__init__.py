"""Tests of TextVectorGen."""
