"""A token bucket: so many answers a second, so many at once (RFC 1812 section 4.3.2.8)."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class TokenBucket:
    """Holds up to `burst` tokens, and gets `rate` a second; full at first. Times are in seconds."""

    rate: float
    burst: float
    _tokens: float = field(default=-1.0, repr=False)
    _at: float = field(default=0.0, repr=False)

    def has(self, now: float) -> bool:
        """Whether there is one more token."""
        if self._tokens < 0:
            self._tokens, self._at = self.burst, now
        self._tokens = min(self.burst, self._tokens + max(0.0, now - self._at) * self.rate)
        self._at = now
        return self._tokens >= 1

    def take(self, now: float) -> bool:
        """Take a token; False where there is none."""
        if not self.has(now):
            return False
        self._tokens -= 1
        return True
