"""Statistics, agreement, correlation and adaptability: pure functions over scores."""
