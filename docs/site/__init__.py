"""The documentation as a site: what is read, sources that it links to, and a reference made from docstrings."""
