"""The meaning of the data: record types, feature names, grades, languages, settings and our errors."""
