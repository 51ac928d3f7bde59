"""The report of an experiment: tables, tests and pictures, as HTML and as Markdown."""
