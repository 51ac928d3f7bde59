"""From a page's wikitext to clean text, links and kind."""
