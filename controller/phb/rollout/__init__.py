"""Pushes to many switches in waves: shared by several processes, judged, taken back."""
