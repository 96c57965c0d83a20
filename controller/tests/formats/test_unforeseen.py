"""Whatever a reader did not foresee is still one error about the file."""

import pytest

from phb import InputError, read_file


@pytest.mark.parametrize(
    "text",
    [
        "phb: 1\nnode: n\nports: " + "[" * 5000,
        "phb: 1\nnode: n\nports: [{number: " + "9" * 5000 + ", name: a}]\n",
        "TcpImage " + "x" * 70 + " FLUSH\n",
    ],
    ids=["nested", "digits", "name"],
)
def test_one_error_that_names_the_file(tmp_path, text):
    path = tmp_path / "policy"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_file(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
