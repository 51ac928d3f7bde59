"""From texts to words, stems and numbers."""
