"""What a project is asked before anything is rented: is it there, what may be done."""

from __future__ import annotations

import pytest

from doors import PROJECT, House
from houses import session_of
from windlass.errors import PermissionMissing
from windlass.google.projects import Projects


@pytest.fixture(scope="module")
def house() -> House:
    return House()


def test_a_project_that_is_not_the_callers_is_refused_as_google_refuses_it(house):
    assert Projects(session_of(house), PROJECT).get()["projectId"] == PROJECT
    with pytest.raises(PermissionMissing):
        Projects(session_of(house), "somebody-elses").get()


def test_only_what_is_granted_is_told():
    house = House()
    robot = house.robot()
    house.grant(robot, "roles/compute.viewer")
    projects = Projects(session_of(house, token=house.token_of(robot)), PROJECT)
    wanted = ["compute.instances.list", "compute.instances.create"]
    assert projects.granted(wanted) == {"compute.instances.list"}


def test_more_permissions_than_one_call_takes_are_asked_for_in_several(house):
    wanted = [f"compute.things{number}.get" for number in range(250)]
    assert Projects(session_of(house), PROJECT).granted(wanted) == set(wanted)


def test_roles_come_with_those_who_have_them(house):
    editors = Projects(session_of(house), PROJECT).roles()["roles/editor"]
    assert any(member.endswith("-compute@developer.gserviceaccount.com") for member in editors)
