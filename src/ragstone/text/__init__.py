"""Text handling that every layer shares: normalisation, words, sentences, writing systems."""
