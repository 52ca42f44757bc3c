"""Every error of Windlass, sorted by who can fix it.

Must not import anything of ours: every other package may raise these.

    WindlassError
      UserError            exit 2, retry NEVER: the caller asked for something that cannot be
        SpecInvalid        the spec file has problems (all of them are listed)
        RunUnknown         no run goes by that name
        RunNotReady        the run is in a phase that does not allow this
        OptionRefused      a command line option or a configuration value makes no sense
        SourceRefused      the workdir cannot be shipped
        NoFeasiblePlan     no offer can carry out the run as it is asked
        CatalogRefused     a catalog cannot be taken as it is
        PolicyDenied       the platform team's policy forbids what the spec asks for
      SetupError           exit 3, retry NEVER: the machine or the account is not ready
        ToolMissing        a program or package that is needed is not installed
        HomeUnusable       the home folder cannot be used
        StoreTooNew        the store was written by a newer Windlass
        StoreUnreachable   the store cannot be opened
        FolderUnreachable  the place of the run folders cannot be read or written
        SecretMissing      a secret that the spec names is not set
        CatalogUnusable    the catalog cannot be read
        TwinNotUp          the command needs the twin, and it is not up
        TwinPortTaken      somebody else listens on the port that the twin is to have
        TwinFailed         the twin was started and did not come up, or cannot be stopped
        NamespacesMissing  this machine lets nobody have machines inside of it
        CredentialsMissing Google does not know who asks
        ApiDisabled        an API of Google's is not turned on in the project
        PermissionMissing  the caller may not do what the run needs
        RunElsewhere       the run is on a cloud that this command does not talk to
      CapacityError        exit 4, retry ELSEWHERE
        MachineTooSmall    this engine can never hold the run
        OutOfStock         nothing of the kind is to be had there now
        QuotaExceeded      the project may not use so much there
        PlaceUnfit         something that the run needs is not in that zone or region
      EngineError          exit 5
        EngineTransient    retry LATER: it did not happen, it may work next time
        EngineRejected     retry NEVER: the engine refused
        EngineAmbiguous    retry AFTER_OBSERVE: it may have happened
      StateError           exit 6, retry LATER
        LeaseLost          another controller holds the lease now
        RunChanged         somebody else wrote the run first
        PhaseIllegal       the phase table forbids this move
        StoreBusy          the store is locked by somebody else
      InternalError        exit 70: a broken invariant
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

DOCS = "https://windlass.dev/errors/"


class Retry(Enum):
    """What a caller may do about an error. The controller branches on this and nothing else."""

    NEVER = "never"
    LATER = "later"
    ELSEWHERE = "elsewhere"
    AFTER_OBSERVE = "after-observe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with a file, where it is, and what to do about it."""

    code: str
    path: str
    line: int
    column: int
    message: str
    remedy: str
    source: str = ""
    """The offending line of the file, as it stands there."""


class WindlassError(Exception):
    """The root. A leaf class names a code, an exit status and what may be done about it."""

    code: ClassVar[str] = "windlass-error"
    exit_status: ClassVar[int] = 70
    retry: ClassVar[Retry] = Retry.NEVER

    def __init__(self, message: str, *, remedy: str = "", context: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.context = context

    @property
    def docs(self) -> str:
        """The page that explains this error."""
        return f"{DOCS}{self.code}"


class UserError(WindlassError):
    """The caller asked for something that cannot be. Cannot be built without a remedy."""

    exit_status = 2

    def __init__(self, message: str, *, remedy: str, context: str = "") -> None:
        super().__init__(message, remedy=remedy, context=context)


class SpecInvalid(UserError):
    """A file of the user's has problems; `problems` holds every one of them."""

    code = "spec-invalid"

    def __init__(self, path: str, problems: Sequence[Problem]) -> None:
        count = len(problems)
        noun = "problem" if count == 1 else "problems"
        super().__init__(
            f"{path}: {count} {noun}",
            remedy="Mend the lines above and run the command again; nothing was changed.",
        )
        self.path = path
        self.problems = tuple(problems)


class RunUnknown(UserError):
    """No run goes by that name."""

    code = "run-unknown"


class RunNotReady(UserError):
    """The run is in a phase that does not allow what was asked."""

    code = "run-not-ready"


class OptionRefused(UserError):
    """A command line option or a configuration value makes no sense."""

    code = "option-refused"


class SourceRefused(UserError):
    """The workdir cannot be shipped: too large, or not there."""

    code = "source-refused"


class CatalogRefused(UserError):
    """A catalog cannot be taken as it is; the one in use stays."""

    code = "catalog-refused"


class NoFeasiblePlan(UserError):
    """No offer can carry out the run as it is asked."""

    code = "no-feasible-plan"


class PolicyDenied(UserError):
    """The platform team's policy forbids what a spec asks for; `problems` holds every breach."""

    code = "policy-denied"

    def __init__(self, message: str, *, remedy: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message, remedy=remedy)
        self.problems = tuple(problems)


class SetupError(WindlassError):
    """The machine or the account is not ready. Cannot be built without a remedy."""

    exit_status = 3

    def __init__(self, message: str, *, remedy: str, context: str = "") -> None:
        super().__init__(message, remedy=remedy, context=context)


class ToolMissing(SetupError):
    """A program or package that is needed is not installed."""

    code = "tool-missing"


class HomeUnusable(SetupError):
    """The home folder cannot be created or written."""

    code = "home-unusable"


class StoreTooNew(SetupError):
    """The store was written by a newer Windlass than this one."""

    code = "store-too-new"


class StoreUnreachable(SetupError):
    """The store cannot be opened."""

    code = "store-unreachable"


class FolderUnreachable(SetupError):
    """The place where run folders are kept cannot be read or written."""

    code = "folder-unreachable"


class SecretMissing(SetupError):
    """A secret that the spec names is not set where the engine looks for it."""

    code = "secret-missing"


class CatalogUnusable(SetupError):
    """The catalog that is installed cannot be read, or is damaged."""

    code = "catalog-unusable"


class TwinNotUp(SetupError):
    """The command needs the twin, and it is not up or does not answer."""

    code = "twin-not-up"


class TwinPortTaken(SetupError):
    """Somebody else listens on the port that the twin is to have."""

    code = "twin-port-taken"


class TwinFailed(SetupError):
    """The twin was started and did not come up, or cannot be stopped."""

    code = "twin-failed"


class NamespacesMissing(SetupError):
    """This machine lets nobody have machines inside of it, and the command needs real ones."""

    code = "namespaces-missing"


class CredentialsMissing(SetupError):
    """Google does not know who asks, or no longer accepts it."""

    code = "credentials-missing"


class ApiDisabled(SetupError):
    """An API of Google's is not turned on in the project."""

    code = "api-disabled"


class PermissionMissing(SetupError):
    """The caller may not do what the run needs."""

    code = "permission-missing"


class RunElsewhere(SetupError):
    """The run is on the twin and the command talks to Google, or the other way round."""

    code = "run-elsewhere"


class CapacityError(WindlassError):
    """There is no room here; there may be elsewhere."""

    exit_status = 4
    retry = Retry.ELSEWHERE


class MachineTooSmall(CapacityError):
    """This engine can never hold the run, however long it waits."""

    code = "machine-too-small"


class OutOfStock(CapacityError):
    """Nothing of the kind is to be had there now; there may be later, or elsewhere."""

    code = "out-of-stock"


class QuotaExceeded(CapacityError):
    """The project may not use so much there; asking again does not help before quota grows."""

    code = "quota-exceeded"


class PlaceUnfit(CapacityError):
    """Something that the run needs is not in that zone or region; it may be in others."""

    code = "place-unfit"


class EngineError(WindlassError):
    """Something an engine said about one claim."""

    exit_status = 5


class EngineTransient(EngineError):
    """It did not happen, and may work the next time."""

    code = "engine-transient"
    retry = Retry.LATER


class EngineRejected(EngineError):
    """The engine refused the request as it is."""

    code = "engine-rejected"


class EngineAmbiguous(EngineError):
    """The answer was lost: it may have happened. Look before asking again."""

    code = "engine-ambiguous"
    retry = Retry.AFTER_OBSERVE


class StateError(WindlassError):
    """The store would not take a write."""

    exit_status = 6
    retry = Retry.LATER


class LeaseLost(StateError):
    """Another controller holds the lease now; this one must stop writing."""

    code = "lease-lost"


class RunChanged(StateError):
    """Somebody else wrote the run first; load it again and decide anew."""

    code = "run-changed"


class PhaseIllegal(StateError):
    """The phase table forbids this move: a bug in whoever asked for it."""

    code = "phase-illegal"
    retry = Retry.NEVER


class StoreBusy(StateError):
    """The store stayed locked by somebody else for too long."""

    code = "store-busy"


class InternalError(WindlassError):
    """A broken invariant. Never the user's fault."""

    code = "internal-error"
