"""Switches that do one thing wrong, so that a check is seen to fail."""

import re
from dataclasses import replace

from phb_device import Device


class Through(Device):
    """Another device, as it is."""

    def __init__(self, device):
        self.device = device
        self.target, self.title, self.address, self.virtual = (
            device.target,
            device.title,
            device.address,
            device.virtual,
        )

    def close(self):
        """The device within goes on."""

    def reset(self):
        self.device.reset()

    def push(self, policy):
        return self.device.push(policy)

    def send(self, port, frame):
        self.device.send(port, frame)

    def poll(self, timeout_s):
        return self.device.poll(timeout_s)

    def advance(self, seconds):
        self.device.advance(seconds)

    def run(self, arrivals, **options):
        return self.device.run(arrivals, **options)


class Misread(Through):
    """It is given another policy than the one that is pushed.

    Args:
        device: The sound one.
        pattern: What is read wrong, a regular expression; it must be there once at least.
        instead: What is read.
    """

    def __init__(self, device, pattern, instead):
        super().__init__(device)
        self.pattern, self.instead, self.changed = pattern, instead, 0

    def push(self, policy):
        policy, count = re.subn(self.pattern, self.instead, policy)
        self.changed += count
        return super().push(policy)


class Meddling(Through):
    """Entries by hand stand beside those of every policy."""

    def __init__(self, device, *entries):
        super().__init__(device)
        self.entries, self.changed = entries, 1

    def push(self, policy):
        intent = super().push(policy)
        self.device.write(self.entries)
        return intent


class Tampering(Through):
    """Frames that leave are changed on their way out, or lost where the function gives None."""

    def __init__(self, device, change):
        super().__init__(device)
        self.change, self.changed = change, 0

    def run(self, arrivals, **options):
        return [changed for each in super().run(arrivals, **options) if (changed := self._changed(each)) is not None]

    def poll(self, timeout_s):
        departure = super().poll(timeout_s)
        return None if departure is None else self._changed(departure)

    def _changed(self, departure):
        frame = self.change(departure.frame)
        self.changed += frame != departure.frame
        return None if frame is None else replace(departure, frame=frame)


class Swapping(Through):
    """Every frame that leaves changes places with the next one."""

    changed = 1

    def run(self, arrivals, **options):
        left = super().run(arrivals, **options)
        for place in range(0, len(left) - 1, 2):
            one, other = left[place], left[place + 1]
            left[place], left[place + 1] = replace(one, frame=other.frame), replace(other, frame=one.frame)
        return left


def octet(change):
    """For `Tampering`: change the ToS octet of IPv4 frames, and make their header's checksum right again."""

    def changed(frame):
        if frame[12:14] != b"\x08\x00":
            return frame
        header = bytearray(frame[14:34])
        header[1] = change(header[1])
        header[10:12] = b"\0\0"
        total = sum(int.from_bytes(header[at : at + 2], "big") for at in range(0, 20, 2))
        total = (total & 0xFFFF) + (total >> 16)
        header[10:12] = (~((total & 0xFFFF) + (total >> 16)) & 0xFFFF).to_bytes(2, "big")
        return frame[:14] + bytes(header) + frame[34:]

    return changed
