"""What a network's own runs say about its figures: tables, conclusions, pictures; one file per network."""
