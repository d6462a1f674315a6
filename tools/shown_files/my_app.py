"""An application in the place of a reader's own."""

print("Lima")
