"""The page on clusters: its configuration files are valid, and its commands exist."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("distributed")
yaml = pytest.importorskip("yaml")

PAGE = (Path(__file__).parents[3] / "docs" / "howto" / "cluster.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_kubernetes_file_gives_workers_one_thread_and_the_scheduler_its_ports():
    (cluster,) = [found for found in map(yaml.safe_load, blocks("yaml")) if "kind" in found]
    worker = cluster["spec"]["worker"]["spec"]["containers"][0]
    assert worker["args"][-4:] == ["--nthreads", "1", "--memory-limit", "4GiB"]
    mounted = {mount["name"] for mount in worker["volumeMounts"]}
    assert mounted == {volume["name"] for volume in cluster["spec"]["worker"]["spec"]["volumes"]}
    scheduler = cluster["spec"]["scheduler"]
    named = {port["name"] for port in scheduler["spec"]["containers"][0]["ports"]}
    assert named == {port["targetPort"] for port in scheduler["service"]["ports"]}
    assert {port["port"] for port in scheduler["service"]["ports"]} == {8786, 8787}


def test_the_slurm_file_starts_a_process_for_every_core():
    (slurm,) = [found["jobqueue"]["slurm"] for found in map(yaml.safe_load, blocks("yaml")) if "jobqueue" in found]
    assert slurm["processes"] == slurm["cores"]
    assert {"queue", "walltime", "memory", "job-script-prologue"} <= slurm.keys()


@pytest.mark.parametrize("number", range(2))
def test_scripts_of_the_page_are_python_with_the_guard(number):
    script = blocks("python")[number]
    compile(script, "script", "exec")
    assert 'if __name__ == "__main__":' in script


@pytest.mark.parametrize("command", ["scheduler", "worker"])
def test_the_options_of_dask_are_its_own(command):
    line = next(line for line in PAGE.splitlines() if line.startswith(f"$ dask {command} "))
    dask = shutil.which("dask", path=str(Path(sys.executable).parent))
    shown = subprocess.run([dask, command, "--help"], capture_output=True, text=True, check=True).stdout
    assert [word for word in line.split() if word.startswith("--") and word not in shown] == []


def test_the_table_of_costs_follows_from_the_rates():
    megabytes, xml, html = 1.5e6, 85, 10
    assert f"{megabytes / xml / 3600:.1f} core hours" in PAGE
    assert f"{megabytes / html / 3600:.0f} core hours" in PAGE
    assert f"{megabytes / xml / 60 / 64:.0f} minutes" in PAGE
    assert f"| {megabytes / 16:,.0f} ".replace("93,750", "94,000") in PAGE
    assert f"{megabytes / 16 * 0.004 / 60:.0f} minutes" in PAGE
