"""What `make dist` refuses, on data that must be refused."""

import json
import tomllib
from pathlib import Path

import pytest

from release import contents, wheels

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("tag", "wrong"),
    [
        ("manylinux_2_17_x86_64", ""),
        ("manylinux_2_28_aarch64", ""),
        ("manylinux_2_34_x86_64", "found symbols of manylinux_2_34_x86_64, expected of glibc 2.28 at most"),
        ("linux_x86_64", "found symbols of linux_x86_64, expected of glibc 2.28 at most"),
        ("musllinux_1_2_x86_64", "found symbols of musllinux_1_2_x86_64, expected of glibc 2.28 at most"),
    ],
)
def test_a_wheel_that_needs_more_than_its_name_says(tag, wrong):
    assert wheels.older_than_its_name({"overall_tag": tag}) == wrong


def test_an_architecture_without_a_standard_library_is_named():
    assert wheels.missing(wheels.Architecture("x86_64")) == ""
    assert "rustup target add s390x-unknown-linux-gnu" in wheels.missing(wheels.Architecture("s390x"))


def test_what_a_command_says_is_in_the_error():
    with pytest.raises(wheels.DistributionError, match=r"rustc --no-such-option: exit code 1\n.*no-such-option"):
        wheels.run(["rustc", "--no-such-option"])


BILL = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": []}


@pytest.mark.parametrize("wrong", [{}, {"components": [{"name": "a"}]}, {"bomFormat": "SPDX"}])
def test_a_bill_of_materials_that_is_none(wrong, tmp_path):
    bill = tmp_path / "bill.json"
    bill.write_text(json.dumps(BILL | wrong))
    assert bool(contents.wrong_bill(bill)) == bool(wrong)


def test_licences_are_the_crates_own_texts(tmp_path):
    bill = tmp_path / "bill.json"
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    crates = [
        {"name": each["name"], "version": each["version"]}
        for each in packages
        if each["name"] in ("ring", "tokio", "phb-node")
    ]
    bill.write_text(json.dumps(BILL | {"components": crates}))
    for name in ("Cargo.toml", "Cargo.lock", "switch"):
        (tmp_path / name).symlink_to(ROOT / name)
    written = contents.licences(tmp_path, [bill]).read_text()
    assert "ring 0." in written
    assert "tokio 1." in written
    assert "Permission is hereby granted" in written
    assert "phb-node" not in written
