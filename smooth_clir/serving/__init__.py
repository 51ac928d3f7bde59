"""An exported model in use: the index of a collection, search, the HTTP service and its page."""
