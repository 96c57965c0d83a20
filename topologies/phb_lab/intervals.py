"""Means over seeds and how sure they are: Student's t intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist, fmean, stdev

# Student's t, 97.5 % quantiles for 1 to 30 degrees of freedom (NIST/SEMATECH e-Handbook of Statistical Methods,
# 1.3.6.7.2).
_T_975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


@dataclass(frozen=True)
class Interval:
    """A mean ± the half width of its 95 % confidence interval, which is None where there is one sample only."""

    mean: float
    half_width: float | None
    samples: int

    @classmethod
    def of(cls, samples: Sequence[float]) -> "Interval":
        """The interval of independent samples.

        Raises:
            ValueError: there are none.
        """
        if not samples:
            raise ValueError("no samples: expected at least one")
        if len(samples) == 1:
            return cls(samples[0], None, 1)
        return cls(fmean(samples), _t_975(len(samples) - 1) * stdev(samples) / sqrt(len(samples)), len(samples))

    @property
    def excludes_zero(self) -> bool:
        """Whether the samples tell the mean from 0."""
        return self.half_width is not None and abs(self.mean) > self.half_width


def _t_975(degrees: int) -> float:
    """Cornish and Fisher's first terms beyond the table (Abramowitz and Stegun 26.7.5): within 0.0002 from 31 on."""
    if degrees <= len(_T_975):
        return _T_975[degrees - 1]
    z = NormalDist().inv_cdf(0.975)
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
