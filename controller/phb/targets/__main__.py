"""Print the table of docs/targets.md: ``python -m phb.targets``."""

from phb.targets import markdown

if __name__ == "__main__":
    print(markdown(), end="")
