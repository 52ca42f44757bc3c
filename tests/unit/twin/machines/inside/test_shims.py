"""Stand-ins do what scripts need of them, and say so on the console."""

from __future__ import annotations

import pytest

UNREACHABLE = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "http_proxy": "http://127.0.0.1:9"}


@pytest.fixture(scope="module")
def vm(farm):
    env = {**UNREACHABLE, "WINDLASS_TWIN_GPUS": "NVIDIA L4:23034:1"}
    farm.start("shimmed", env=env, startup_script=b"echo first")
    farm.says("shimmed", "Finished running startup scripts.")
    yield "shimmed"
    farm.machines.delete("shimmed")


SUDO = {
    "sudo whoami": "root\n",
    "sudo -n -E whoami": "root\n",
    "sudo -u bob whoami": "bob\n",
    "sudo --user=bob -- whoami": "bob\n",
    "sudo A=b sh -c 'echo $A'": "b\n",
    "echo x | sudo tee /etc/x && cat /etc/x": "x\nx\n",
    "cd /usr && sudo pwd": "/usr\n",
    "sudo -i true; sudo sh -c 'exit 5'; echo $?": "5\n",
    "sudo sudo -u bob sudo whoami": "root\n",
}


@pytest.mark.parametrize("command", SUDO)
def test_sudo_runs(farm, vm, command):
    if "bob" in command and farm.ask(vm, "id -u", user="ada") == "0\n":
        pytest.skip("without privileges, everybody is root inside")
    assert farm.ask(vm, command, user="ada") == SUDO[command]


def test_what_is_replaced_is_said(farm, vm):
    assert "NVIDIA L4" in farm.ask(vm, "nvidia-smi", user="ada")
    farm.says(vm, "windlass-twin: replaced nvidia-smi: 1 simulated")
    assert farm.machines.run(vm, "/opt/deeplearning/install-driver.sh").status == 0
    farm.says(vm, "windlass-twin: replaced install-driver.sh")
    assert farm.machines.run(vm, "systemctl restart something").status == 0
    farm.says(vm, "windlass-twin: replaced systemctl restart something")


def test_a_driver_is_not_looked_for(farm, vm):
    assert farm.machines.run(vm, "sudo apt-get install -y cuda-drivers", user="ada").status == 0
    farm.says(vm, "windlass-twin: replaced apt-get install cuda-drivers")


def test_packages_that_cannot_be_had_are_replaced(farm, vm):
    install = "apt-get update && apt-get install -y no-such-package-at-all"
    assert farm.machines.run(vm, install).status == 0
    farm.says(vm, "windlass-twin: replaced apt-get install -y no-such-package-at-all")


def test_pip_in_a_new_environment_falls_back_on_the_hosts_packages(farm, vm):
    commands = "python3 -m venv v && . v/bin/activate && pip install -q no-such-thing-at-all"
    done = farm.machines.run(vm, f"{commands} && python -c 'import yaml'", user="ada")
    assert done.status == 0, done
    farm.says(vm, "windlass-twin: replaced pip install -q no-such-thing-at-all")


def test_another_failure_of_pip_stays_one(farm, vm):
    done = farm.machines.run(vm, "python3 -m pip install /no/such/file.whl", user="ada")
    assert done.status != 0


def test_the_journal_shows_the_startup_script(farm, vm):
    text = farm.ask(vm, "sudo journalctl -u google-startup-scripts.service --no-pager", user="ada")
    assert "startup-script: first" in text


def test_the_startup_script_can_be_run_again(farm, vm):
    assert (
        farm.machines.run(vm, "sudo google_metadata_script_runner startup", user="ada").status == 0
    )
    assert farm.machines.console(vm).count(b"startup-script: first") == 2
