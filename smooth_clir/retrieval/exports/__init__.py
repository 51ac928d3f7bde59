"""The documents of an index in the forms of other search engines, with a query whose score is the model's."""
