"""The documentation as a site: pages, sources that they link to, and a reference made from docstrings."""
