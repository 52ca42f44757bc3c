"""How this twin behaves: its project, how long Google takes for things, how many machines run.

Must not read files: the server reads them and makes these values.
"""

from __future__ import annotations

from dataclasses import dataclass, field

DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Delays:
    """How long things take, in the twin's seconds. By default nothing waits."""

    operation: float = 0.0
    """Of an operation that starts no machine."""
    boot: float = 0.0
    """From an accepted ask for a machine until it runs."""
    stop: float = 0.0
    tpu: float = 0.0
    """From an accepted ask for a TPU node until it is ready."""
    queue: float = 0.0
    """Of a queued resource or a flex-start request that finds capacity, until it is granted."""
    cluster: float = 0.0
    """Of a change to a cluster or a node pool."""
    replica: float = 0.0
    """Until the replicas of a custom training run have started."""
    search: float = 0.0
    """Of a custom training for which there are no machines, until it is refused."""


SHORT = Delays()
GOOGLE_LIKE = Delays(
    operation=3.0,
    boot=25.0,
    stop=20.0,
    tpu=150.0,
    queue=60.0,
    cluster=240.0,
    replica=180.0,
    search=300.0,
)
"""Orders of magnitude that people report; the real ones vary by type and day."""
DELAYS = {"short": SHORT, "google": GOOGLE_LIKE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One twin's."""

    project: str = "twin-project"
    project_number: str = "415926535897"
    account: str = "you@example.com"
    billing_account: str = "0X0X0X-0X0X0X-0X0X0X"
    organization: str = "314159265358"
    delays: Delays = field(default=SHORT)
    notice_s: float = 30.0
    """Between telling a spot machine and killing it."""
    live: int = 16
    """So many machines are real processes; those above are modelled."""

    @property
    def default_service_account(self) -> str:
        """The one that a machine gets when none is named."""
        return f"{self.project_number}-compute@developer.gserviceaccount.com"
