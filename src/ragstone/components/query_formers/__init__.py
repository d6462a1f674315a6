"""Query forming: from a query and its history to the text that is searched for."""
