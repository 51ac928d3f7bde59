"""Tests of TranslationGen."""
