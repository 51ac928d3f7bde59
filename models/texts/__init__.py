"""Splits texts into words, stems them and counts them."""
