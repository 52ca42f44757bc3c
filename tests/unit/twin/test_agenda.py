from __future__ import annotations

from windlass.twin.agenda import Agenda
from windlass.twin.journal import Appointment


def test_appointments_come_in_the_order_of_their_time() -> None:
    agenda = Agenda()
    for at in (3.0, 1.0, 2.0, 1.0):
        agenda.add(at, "k", str(at))
    assert agenda.next_at() == 1.0
    due = []
    while (one := agenda.pop_due(2.0)) is not None:
        due.append((one.at, one.id))
    assert due == [(1.0, 2), (1.0, 4), (2.0, 3)]
    assert agenda.next_at() == 3.0


def test_what_was_made_and_is_over_needs_no_writing() -> None:
    agenda = Agenda([Appointment(1.0, 7, "old", "")])
    agenda.add(0.5, "short", "")
    agenda.add(9.0, "long", "")
    while agenda.pop_due(2.0) is not None:
        pass
    made, over = agenda.changes()
    assert [one.kind for one in made] == ["long"]
    assert over == [7]
    agenda.forget_changes()
    assert agenda.changes() == ([], [])


def test_new_appointment_has_an_id_of_its_own_after_a_restart() -> None:
    agenda = Agenda([Appointment(1.0, 7, "old", "")])
    agenda.add(1.0, "new", "")
    assert agenda.changes()[0][0].id == 8
