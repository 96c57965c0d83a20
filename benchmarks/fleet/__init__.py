"""`fleet.*`: 2,000 phb-switches in one process, and what they cost those who push to them."""
