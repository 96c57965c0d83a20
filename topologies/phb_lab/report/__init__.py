"""What a person sees of a run: the table, the pictures, the explanations."""
