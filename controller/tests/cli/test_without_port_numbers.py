"""A router's configuration alone, which numbers no port, in the commands that ask no switch."""

import json
import shlex

import pytest

OLD = """\
hostname r1
ip access-list extended guests
 deny tcp any any eq telnet
 permit ip any any
class-map voice
 match ip dscp ef
policy-map out
 class voice
  set ip precedence 5
interface FastEthernet0/0
 ip address 192.0.2.1 255.255.255.0
 ip access-group guests in
interface FastEthernet0/1
 ip address 198.51.100.1 255.255.255.0
 service-policy output out
"""
NEW = OLD.replace("eq telnet", "eq 22").replace("precedence 5", "precedence 4")
THIRD = NEW + "interface FastEthernet0/10\n ip access-group guests in\n"
WIRED = "note: no file numbers FastEthernet0/0, FastEthernet0/1: numbered by name; no file says where packets go: "
EXPECTED = """\
phb-expectations: 1
expectations:
  - name: telnet
    match: {ingress-port: FastEthernet0/0, protocol: tcp, source: 0.0.0.0/0, destination-ports: 23}
    never: {dropped: false}
"""


@pytest.fixture
def files(write_file):
    texts = {"old.cfg": OLD, "new.cfg": NEW, "third.cfg": THIRD, "e.yaml": EXPECTED}
    return {name: write_file(name, text) for name, text in texts.items()}


def test_a_difference_in_names_of_interfaces(phb, files):
    code, out, err = phb("diff", files["old.cfg"], files["new.cfg"])
    assert code == 1
    assert err.endswith(f"{WIRED}FastEthernet0/0 is wired to FastEthernet0/1\n")
    assert "tcp from 0.0.0.0/0 to any port 23, in FastEthernet0/0" in out
    assert "3 regions differ" in out


@pytest.mark.parametrize("new", ["new.cfg", "third.cfg"])
def test_examples_are_explained_by_the_same_files(phb, files, new):
    _, out, _ = phb("diff", "--json", files["old.cfg"], files[new])
    (told,) = json.loads(out)["comparisons"]
    assert len(told["made_up"]) == 2
    ways = [region["example"]["text"] for region in told["regions"]]
    assert len(ways) == (3 if new == "new.cfg" else 5)
    for text in ways:
        assert " in FastEthernet0/" in text or " in opposite-FastEthernet0/" in text
        code, out, _ = phb("explain", "--json", files[new], "--packet", text)
        assert code == 0
        assert json.loads(out)["packets"]


def test_a_port_that_only_one_has(phb, files):
    code, out, _ = phb("diff", files["new.cfg"], files["third.cfg"])
    assert code == 1
    assert "in FastEthernet0/10" in out
    assert "(no route)" in out or "no route" in out


def test_a_page_says_what_was_made_up(phb, files, tmp_path):
    page = tmp_path / "change.html"
    phb("diff", files["old.cfg"], files["new.cfg"], "--html", page)
    assert "FastEthernet0/0 is wired to FastEthernet0/1" in page.read_text()


def test_search_and_its_example(phb, files):
    code, out, err = phb("search", files["old.cfg"], "--treatment", "permission=blocked")
    assert code == 0
    assert err == f"{WIRED}FastEthernet0/0 is wired to FastEthernet0/1\n"
    options = shlex.split(out.partition("such as ")[2])
    code, out, _ = phb("explain", files["old.cfg"], *options)
    assert code == 0
    assert "blocked" in out


def test_expectations(phb, files):
    for name, code in (("old.cfg", 0), ("new.cfg", 1)):
        assert phb("verify", files["e.yaml"], files[name])[0] == code
    _, out, _ = phb("verify", "--json", files["e.yaml"], files["old.cfg"])
    assert len(json.loads(out)["made_up"]) == 2


def test_check_numbers_where_nothing_is_numbered(phb, files, write_file):
    code, _, err = phb("check", files["old.cfg"])
    assert (code, err) == (
        0,
        "note: no file numbers FastEthernet0/0, FastEthernet0/1: numbered by name; a push needs their numbers\n",
    )
    one = write_file("one.yaml", "phb: 1\nports: [{name: FastEthernet0/0, number: 4}]\n")
    code, _, err = phb("check", files["old.cfg"], one)
    assert code == 2
    assert "port 'FastEthernet0/1' without a number" in err


LIST = """\
ip access-list edge.in
 10 deny tcp any any eq telnet
 20 permit ip any any
class-map voice
 match access-group name calls
ip access-list calls
 permit udp any any range 16384 32767
policy-map wan
 class voice
  set dscp ef
"""


def test_lists_and_policy_maps_of_a_file_without_interfaces(phb, write_file):
    old, new = write_file("old.txt", LIST), write_file("new.txt", LIST.replace("telnet", "22").replace("ef", "af41"))
    code, out, err = phb("diff", old, new)
    assert code == 1
    assert "3 regions differ" in out
    assert "udp from 0.0.0.0/0 to any ports 16384-32767, in opposite-wan" in out
    assert f"(access-list edge.in in@edge-in {old}:1, line 2: 10 deny tcp any any eq telnet)" in out
    assert f"warning: {old}:1: there is no interface: 'edge.in' is asked at a port 'edge-in' made up for it" in err
    # Nothing is in use where a switch would be meant.
    code, out, _ = phb("check", "--json", old)
    assert (code, json.loads(out)["entries"]) == (0, 0)


def test_lists_with_long_names_stay_apart(phb, write_file):
    parts = [f"ip access-list extended {'a' * 50}{end}\n deny tcp any any eq {end}\n" for end in (1, 2)]
    old, new = write_file("old", "".join(parts)), write_file("new", "!\n" + parts[0] + parts[1].replace("eq 2", "eq 3"))
    _, out, _ = phb("diff", "--json", old, new)
    (told,) = json.loads(out)["comparisons"]
    assert told["alike"]
    new = write_file("new", "!\n" + parts[0] + parts[1] + " permit udp any any\n")
    _, out, _ = phb("diff", old, new)
    assert f"udp from 0.0.0.0/0, in {'a' * 32}-2" in out


def test_an_interface_that_is_no_port_of_a_switch(phb, write_file):
    old, new = (
        write_file(name, text.replace("interface FastEthernet0/0", "interface Vlan7"))
        for name, text in (("old", OLD), ("new", NEW))
    )
    code, out, err = phb("diff", old, new)
    assert code == 1
    assert "tcp from 0.0.0.0/0 to any port 23, in Vlan7" in out
    assert f"warning: {old}:10: Vlan7 is no port of a switch: it is asked as if it were one" in err
    assert "access list 'guests' filters nothing: Vlan7 is no port" in phb("check", old)[2]


def test_the_line_of_a_list_that_blocks(phb, files):
    _, out, _ = phb("search", files["old.cfg"], "--treatment", "permission=blocked")
    assert f"at {files['old.cfg']}:12, line 3: deny tcp any any eq telnet\n" in out
    _, out, _ = phb("search", "--json", files["old.cfg"], "--treatment", "permission=blocked")
    (rule,) = json.loads(out)["regions"][0]["rules"]
    assert (rule["line"], rule["statement"]) == (12, {"line": 3, "text": "deny tcp any any eq telnet"})


def test_groups_that_come_from_other_ports_are_an_open_question(phb, write_file):
    text = OLD.replace(" match ip dscp ef", " match qos-group 3") + "interface FastEthernet0/10\n"
    old, new = write_file("old", text), write_file("new", text.replace("telnet", "22"))
    for other, regions in ((old, 0), (new, 2)):
        code, out, _ = phb("diff", "--json", old, other)
        (told,) = json.loads(out)["comparisons"]
        assert (code, len(told["regions"])) == (1, regions)
        assert [each["packets"].partition(": ")[2] for each in told["open"]] == [
            "'qos-group' in an output policy, and no word of where packets go"
        ] * len({old, other})
    code, _, err = phb("search", old, "--treatment", "permission=blocked")
    assert (code, "'qos-group' in an output policy" in err) == (2, True)
    code, out, err = phb("explain", old, "--packet", "udp 10.0.0.1:1 > 10.0.0.2:2 in FastEthernet0/10")
    assert (code, "not seen here: " in err) == (0, True)


def test_a_push_needs_numbers(phb, files):
    code, _, err = phb("push", "--no-state", files["old.cfg"])
    assert code == 2
    assert "without a number" in err
