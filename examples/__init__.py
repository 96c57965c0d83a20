"""Policies and networks to start from; installed beside the code because the lab runs them."""
