"""Databases by one URL: an SQLite file or PostgreSQL; transactions, and what is wrong in words."""
