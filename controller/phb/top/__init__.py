"""`phb top`: live figures in a terminal."""
