import pytest


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Runs phb-lab in this process; gives exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments):
        from phb_lab.cli import main

        monkeypatch.setattr("sys.argv", ["phb-lab", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        told = capsys.readouterr()
        return caught.value.code or 0, told.out, told.err

    return run
