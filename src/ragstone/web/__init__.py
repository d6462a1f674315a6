"""What all pages of a server on this machine share: who may ask, addresses, numbers, style."""
