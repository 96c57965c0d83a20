"""The published test networks, a folder each, made as a user's own network would be."""
