"""Deliberately simple models to hold a switch against, each written from its definition, none from the switch."""
