"""Context settings: the rules that choose the passages shown to a generator."""
