"""ExampleGen for WikiCLIR files: listwise examples from queries, documents and judgments."""
