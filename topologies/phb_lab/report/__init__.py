"""Reports of a run: tables, pictures, results files and the page."""
