"""The operations page: its document, style and scripts, which work offline and without a build."""
