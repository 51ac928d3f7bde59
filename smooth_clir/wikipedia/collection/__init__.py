"""Joins the articles of two wikis into queries, documents and judgments."""
