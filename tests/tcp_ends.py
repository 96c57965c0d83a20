"""TCP segments made from single fields, and a connection that counts its own numbers."""

import struct

MACS = bytes.fromhex("020000000002020000000001")
ADDRESSES = {
    4: [bytes([10, 0, 1, 1]), bytes([10, 0, 2, 1])],
    6: [bytes.fromhex("20010db8" + "00" * 11 + "01"), bytes.fromhex("20010db8" + "00" * 11 + "02")],
}
FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, "A": 16}
ALL = 0xFFFFFFFF
WRONG_BY = 0x0101  # a trailer of two bytes of 1 makes the sum over all of a frame right again


def _sum(data):
    data += b"\0" * (len(data) % 2)
    return int.from_bytes(data, "big") % 0xFFFF


def _complement(total):
    return 0xFFFF - (total or 0xFFFF)


def segment(
    ports,
    flags,
    *,
    seq=0,
    ack=0,
    window=65535,
    payload=b"",
    options=b"",
    version=4,
    addresses=None,
    back=False,
    wrong=False,
    trailer=b"",
    more_fragments=False,
):
    """Make an Ethernet frame.

    `ports` are the client's and the server's, `flags` letters of scapy's. With `back` it comes from the server; with
    `wrong` its checksum is too small by `WRONG_BY`. `trailer` stands behind the datagram.
    """
    source, destination = (addresses or ADDRESSES[version])[:: -1 if back else 1]
    ports = ports[::-1] if back else ports
    words = 5 + len(options) // 4
    bits = sum(FLAGS[flag] for flag in flags)
    tcp = struct.pack(">HHIIBBHHH", *ports, seq & ALL, ack & ALL, words << 4, bits, window, 0, 0) + options + payload
    pseudo_header = source + destination + struct.pack(">II", len(tcp), 6)
    checksum = _complement(_sum(pseudo_header + tcp))
    if wrong:
        checksum = (checksum - WRONG_BY) % 0xFFFF
    tcp = tcp[:16] + checksum.to_bytes(2, "big") + tcp[18:]
    if version == 4:
        fragment = 0x2000 if more_fragments else 0
        header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 1, fragment, 64, 6, 0) + source + destination
        ip = header[:10] + _complement(_sum(header)).to_bytes(2, "big") + header[12:]
    else:
        ip = struct.pack(">IHBB", 6 << 28, len(tcp), 6, 64) + source + destination
    return MACS + (b"\x08\x00" if version == 4 else b"\x86\xdd") + ip + tcp + trailer


class Ends:
    """Both ends of one connection, as they are without loss.

    `deliver` takes a frame and whether it comes from the server, and tells whether it passed. Segments are made with
    `said`.
    """

    def __init__(self, deliver, client=1, *, server_port=80, first=(1000, 0xFFFFFF00), **said):
        self.deliver, self.said = deliver, said
        self.ports = (1000 + client, server_port)
        self.next = {False: first[0], True: first[1]}
        self.reached = {False: 0, True: 0}  # what each has acknowledged

    def send(self, flags, payload=0, *, back=False, ahead=0, ack_ahead=0, **said):
        """Send the next segment of an end, or one that is so far off; it arrives if it passes."""
        seq, ack = self.next[back] + ahead, self.reached[back] + ack_ahead if "A" in flags else 0
        frame = segment(self.ports, flags, seq=seq, ack=ack, back=back, payload=bytes(payload), **(self.said | said))
        passed = self.deliver(frame, back)
        if passed and not said.get("wrong") and not ahead and not ack_ahead:
            self.next[back] += payload + ("S" in flags) + ("F" in flags)
            self.reached[not back] = self.next[back]
        return passed

    def open(self):
        """Do the handshake; return whether all of it passed."""
        return self.send("S") and self.send("SA", back=True) and self.send("A")

    def close(self, back=False):
        """Send a FIN from one end, acknowledged by the other, and a FIN from that."""
        return all([self.send("FA", back=back), self.send("FA", back=not back), self.send("A", back=back)])

    def reset(self, back=False):
        return self.send("R", back=back)
