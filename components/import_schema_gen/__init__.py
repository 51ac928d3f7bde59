"""ImportSchemaGen whose cache key holds the schema's content."""
