"""Reading what switches count: one reader for each way that a switch tells it."""
