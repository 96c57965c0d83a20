"""Databases by one URL: an SQLite file or PostgreSQL; transactions, and what is wrong in words.

place > schema, statements > sqlite, postgresql > database
"""

from phb.database.database import Database
from phb.database.place import Place, default_path, place_of
from phb.database.schema import BIG, REAL, Schema, table
from phb.database.statements import insert_into, lock

__all__ = ["BIG", "REAL", "Database", "Place", "Schema", "default_path", "insert_into", "lock", "place_of", "table"]
