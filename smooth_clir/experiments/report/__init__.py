"""The report of an experiment: verdicts, tables, tests of significance and pictures, as Markdown."""
