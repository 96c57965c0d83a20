"""What two behaviours do differently: regions, as few and as large as they can be, in the policies' words."""
