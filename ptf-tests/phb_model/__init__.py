"""Deliberately simple models to compare a switch with, each written from its definition, none from the switch."""
