"""Whether a policy that was read from a switch says what its tables do."""

from __future__ import annotations

from datetime import UTC, datetime

from phb.behaviour.policy import behaviour_of_policy
from phb.comparing.comparison import TOO_LONG
from phb.comparing.contrast import Acting
from phb.comparing.differences import differences
from phb.comparing.telling import Comparison, Difference, OpenQuestion, Region, Side
from phb.device.artifact import Artifact
from phb.packets.epochs import Epochs
from phb.packets.words import Naming, in_words
from phb.proving.tables import behaviour_of_entries
from phb.recovering import Recovered
from phb.regions.budget import Budget


def compare_with_tables(recovered: Recovered, artifact: Artifact, names: tuple[str, str], budget: Budget) -> Comparison:
    """Compare what a switch's entries do (A) with the policy that was read from them (B), for every packet.

    Regions have no examples: there is no policy of A that `phb explain` could read.

    Raises:
        TableFaultError: The entries don't say one thing.
    """
    policy, epochs = recovered.policy, Epochs.at(datetime.now(UTC))
    ports = {port.number: port.name for port in policy.ports if port.number is not None}
    tables = behaviour_of_entries(recovered.entries, artifact, recovered.shapers)
    found = differences(
        Acting(tables, ports), Acting(behaviour_of_policy(policy, epochs), ports), epochs.all, budget=budget
    )
    naming = Naming.of([policy], epochs)
    regions = [
        Region(
            number,
            tuple(words.text for words in in_words(region.boxes, naming)),
            (),
            0.0,
            tuple(Difference(each.what, each.a, each.b) for each in region.differences),
            None,
        )
        for number, region in enumerate(found.regions, start=1)
    ]
    unknown = in_words([*found.open, *found.sharing_open], naming)
    questions = tuple(OpenQuestion(words.text, TOO_LONG) for words in unknown)
    return Comparison(Side(names[0]), Side(names[1]), tuple(regions), open=questions)
