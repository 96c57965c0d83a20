import pytest

from phb_lab.figures import Figure


@pytest.fixture
def figures_of_s390():
    return (
        Figure("fifo", "interactive.avg", "s", 4.57, 4.73353, low=4.26, high=5.21),
        Figure("wfq", "interactive.avg", "s", 0.39, 1.00288, high=0.35),
    )


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
