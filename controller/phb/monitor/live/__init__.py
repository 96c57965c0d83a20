"""Live figures: observations as messages for pages, `phb top` and recordings, and the last minutes of each switch."""
