"""What the data mean: record types, feature names, grades, languages, settings and our errors."""
