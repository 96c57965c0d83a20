"""The language of configurations: lines, words and names, and the modes that statements stand in."""
