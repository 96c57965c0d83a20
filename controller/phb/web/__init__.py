"""The HTTP server of pages, metrics and live figures: bounded in all that strangers send or leave unread."""
