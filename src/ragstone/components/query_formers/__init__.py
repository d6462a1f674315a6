"""Query forming: from a query and its history to the search text."""
