"""Tests of machine translators."""
