#!/usr/bin/env python3
"""Searches that several hosts share: two hosts with names and addresses of their own on this machine (network and name
spaces), a folder that both see, and what starts processes on them: two shells (--join), Open MPI and MPICH over ssh, srun
of a Slurm with two nodes. Each must leave the bytes of one process alone, also if a host is lost.

    tests/hosts/hosts.py PROGRAM [WAY...]

Needs root, and `ip` of iproute2; without them it says so and ends with 77. A launcher that is not installed is left out
with a word, and is missing from the count at the end.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
FIT = ["fit", "t.svm", "--model", "multinomial", "--alpha", "0.01", "--threads", "1", "--memory", "500M", "--output"]
DISTANCES = ["distances", "t.svm", "--threads", "1", "--memory", "16M"]
SEARCH = ["search", "t.svm", "--model", "linear", "--cost", "1e-3:1e3:12", "--tolerance", "1e-8", "--batch", "2",
          "--outer", "3", "--threads", "1", "--memory", "500M", "--lease", "1"]
WAYS = ("join", "distances", "lost_host", "open_mpi", "mpich", "slurm")


class Failure(Exception):
    pass


def call(*command, **options):
    """Its output; a failure names the command and what it wrote."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def wait_for(what, is_there, seconds=60):
    end = time.monotonic() + seconds
    while not is_there():
        if time.monotonic() > end:
            raise Failure(f"{what}: not after {seconds} seconds")
        time.sleep(0.01)


class Host:
    """A network, a name and a table of hosts of its own; the disk is shared."""

    def __init__(self, name, address, table):
        self.name = name
        self.address = address
        self.space = f"sheaf-{os.getpid()}-{name}"
        self.table = table

    def command(self, *command):
        script = f"hostname {self.name} && mount --bind {self.table} /etc/hosts && exec \"$@\""
        return ["ip", "netns", "exec", self.space, "unshare", "--uts", "--mount", "sh", "-c", script, "sh", *map(str, command)]

    def start(self, *command, **options):
        return subprocess.Popen(self.command(*command), start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, **options)

    def call(self, *command, **options):
        return call(*self.command(*command), **options)


def end(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def end_descendants():
    """Daemons that left their session are children of this process: see main()."""
    own = os.getpid()
    while True:
        children = pathlib.Path(f"/proc/{own}/task/{own}/children").read_text().split()
        if not children:
            return
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(int(child), 0)


@contextlib.contextmanager
def two_hosts(folder):
    table = folder / "hosts"
    table.write_text("127.0.0.1 localhost\n10.77.0.1 host-a\n10.77.0.2 host-b\n")
    hosts = [Host("host-a", "10.77.0.1", table), Host("host-b", "10.77.0.2", table)]
    try:
        for host in hosts:
            call("ip", "netns", "add", host.space)
        a, b = hosts
        call("ip", "-n", a.space, "link", "add", "to-b", "type", "veth", "peer", "name", "to-a", "netns", b.space)
        for host, link in ((a, "to-b"), (b, "to-a")):
            call("ip", "-n", host.space, "link", "set", "lo", "up")
            call("ip", "-n", host.space, "address", "add", f"{host.address}/24", "dev", link)
            call("ip", "-n", host.space, "link", "set", link, "up")
        yield hosts
    finally:
        for host in hosts:
            subprocess.run(["ip", "netns", "delete", host.space], stderr=subprocess.DEVNULL, check=False)


def files_of(folder):
    """Of the settings all but the command, which differs."""
    files = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        files[name] = "a folder" if path.is_dir() else path.read_bytes()
    settings = json.loads(files["settings.json"])
    settings.pop("command")
    files["settings.json"] = settings
    return files


class Hosts:
    def __init__(self, program, folder, hosts):
        self.program, self.folder, self.hosts = program, folder, hosts
        call(program, "generate", "text", "t.svm", "--rows", 200, "--features", 120, "--nonzeros", 4000, "--seed", 3,
             "--quiet", cwd=folder)
        call(program, *SEARCH, "--output", "whole", cwd=folder)
        call(program, *DISTANCES, "whole.npy", cwd=folder)
        self.whole = files_of(folder / "whole")

    def expect_whole(self, name):
        found = files_of(self.folder / name)
        differing = sorted(file for file in found.keys() | self.whole.keys() if found.get(file) != self.whole.get(file))
        if differing:
            raise Failure(f"{name}: not the bytes of one process: {', '.join(differing)}")

    # Each returns why it is left out, or None.

    def on_both(self, *command):
        workers = [host.start(self.program, *command, cwd=self.folder) for host in self.hosts]
        for worker in workers:
            said = worker.communicate(timeout=300)[0]
            if worker.returncode != 0:
                raise Failure(f"{command[0]} --join ended with {worker.returncode}:\n{said}")

    def join(self):
        self.on_both(*SEARCH, "--join", "joined")
        self.expect_whole("joined")

    def distances(self):
        self.on_both(*DISTANCES, "joined.npy", "--join")
        if (self.folder / "joined.npy").read_bytes() != (self.folder / "whole.npy").read_bytes():
            raise Failure("joined.npy: not the bytes of one process")

    def lost_host(self):
        lost, other = (host.start(self.program, *SEARCH, "--join", "lost", cwd=self.folder) for host in self.hosts)
        try:
            wait_for("a first batch", lambda: any((self.folder / "lost" / "units").glob("batch-*")))
        finally:
            end(lost)
        said = other.communicate(timeout=300)[0]
        if other.returncode != 0:
            raise Failure(f"the host that is left ended with {other.returncode}:\n{said}")
        self.expect_whole("lost")

    @contextlib.contextmanager
    def ssh(self):
        """A server on each host, and the command that reaches them."""
        keys = self.folder / "keys"
        keys.mkdir(mode=0o700, exist_ok=True)
        for key in ("server", "user"):
            if not (keys / key).exists():
                call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys / key)
        shutil.copy(keys / "user.pub", keys / "authorized")
        (keys / "server_config").write_text(
            f"HostKey {keys}/server\nAuthorizedKeysFile {keys}/authorized\nPidFile none\nUsePAM no\nStrictModes no\n"
            "PermitRootLogin yes\nPasswordAuthentication no\n")
        client = keys / "ssh"
        client.write_text(f"#!/bin/sh\nexec ssh -i {keys}/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
                          "-o LogLevel=ERROR -o BatchMode=yes \"$@\"\n")
        client.chmod(0o700)
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        servers = [host.start(shutil.which("sshd"), "-D", "-e", "-f", keys / "server_config") for host in self.hosts]
        try:
            def answer(host):
                return subprocess.run(self.hosts[0].command(client, host.name, "true"), stderr=subprocess.DEVNULL).returncode == 0
            for host in self.hosts:
                wait_for(f"ssh to {host.name}", lambda host=host: answer(host))
            yield client
        finally:
            for server in servers:
                end(server)

    def mpi(self, name, program, options):
        if not shutil.which(program):
            return f"{program} is not installed"
        if not shutil.which("sshd"):
            return "no ssh server is installed"
        with self.ssh() as client:
            environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            self.hosts[0].call(program, *options(client), self.program, *SEARCH, "--output", name, cwd=self.folder,
                               env=environment, timeout=300)
            self.expect_whole(name)
            self.share_rows(name, program, options(client), environment)

    def share_rows(self, name, program, options, environment):
        """A model whose rows the processes of both hosts share: the bytes of one process of mpirun."""
        if not (self.program.parent / f"sheaf-{name}.so").exists():
            print(f"{name}: rows are not shared: Sheaf was built without this MPI's headers")
            return
        for model, launcher in (("one", ["-n", 1]), ("four", options)):
            self.hosts[0].call(program, *launcher, self.program, *FIT, f"{name}-{model}", cwd=self.folder, env=environment,
                               timeout=300)
        if (self.folder / f"{name}-one").read_bytes() != (self.folder / f"{name}-four").read_bytes():
            raise Failure(f"{name}: rows shared by two hosts: not the model of one process")

    def open_mpi(self):
        return self.mpi("openmpi", "mpirun.openmpi", lambda client: [
            "--mca", "plm_rsh_agent", client, "--mca", "btl", "tcp,self", "--mca", "oob_tcp_if_include", "10.77.0.0/24",
            "--host", "host-a:2,host-b:2", "-n", 4])

    def mpich(self):
        return self.mpi("mpich", "mpiexec.hydra", lambda client: [
            "-launcher", "ssh", "-launcher-exec", client, "-hosts", "host-a,host-b", "-ppn", 2, "-n", 4])

    def slurm(self):
        if not all(shutil.which(program) for program in ("slurmctld", "slurmd", "srun")):
            return "Slurm is not installed"
        folder = self.folder / "slurm"
        for name in ("state", "spool-host-a", "spool-host-b"):
            (folder / name).mkdir(parents=True)
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        settings = folder / "slurm.conf"
        settings.write_text(
            "ClusterName=sheaf\nSlurmctldHost=host-a\nSlurmUser=root\nAuthType=auth/none\nCredType=cred/none\nMpiDefault=none\n"
            "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\nReturnToService=2\n"
            f"StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool-%n\nSlurmctldPidFile={folder}/control.pid\n"
            f"SlurmdPidFile={folder}/%n.pid\nSlurmctldLogFile={folder}/control.log\nSlurmdLogFile={folder}/%n.log\n"
            "NodeName=host-a,host-b CPUs=2 State=UNKNOWN\nPartitionName=all Nodes=ALL Default=YES State=UP\n")
        environment = os.environ | {"SLURM_CONF": str(settings)}
        first = self.hosts[0]
        daemons = [first.start("slurmctld", "-D", "-i", env=environment)]
        try:
            daemons += [host.start("slurmd", "-D", "-N", host.name, env=environment) for host in self.hosts]

            def is_idle():
                found = subprocess.run(first.command("sinfo", "--noheader", "--format=%T %D"), env=environment, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                return found.stdout.split() == ["idle", "2"]
            try:
                wait_for("two idle nodes", is_idle)
            except Failure as failure:
                logs = "".join(f"\n{log.name}:\n{log.read_text()[-2000:]}" for log in sorted(folder.glob("*.log")))
                raise Failure(f"{failure}{logs}") from None
            first.call("srun", "--nodes=2", "--ntasks=4", self.program, *SEARCH, "--output", "slurm-run", cwd=self.folder,
                       env=environment, timeout=300)
        finally:
            for daemon in daemons:
                end(daemon)
        self.expect_whole("slurm-run")


def can_make_hosts():
    """Why not, or None."""
    if os.geteuid() != 0:
        return "only root can make hosts"
    if not shutil.which("ip"):
        return "ip (iproute2) is not installed"
    name = f"sheaf-{os.getpid()}-trial"
    made = subprocess.run(["ip", "netns", "add", name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL, check=False)
    return None if made.returncode == 0 else f"network spaces are not allowed here: {made.stdout.strip()}"


def main(program, ways):
    reason = can_make_hosts()
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    become_reaper = 36  # PR_SET_CHILD_SUBREAPER: daemons of launchers end with this process
    ctypes.CDLL(None).prctl(become_reaper, 1, 0, 0, 0)
    done, failed = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        folder.chmod(0o755)
        with two_hosts(folder) as hosts:
            try:
                tests = Hosts(pathlib.Path(program).resolve(), folder, hosts)
                for name in ways:
                    begin = time.monotonic()
                    try:
                        left_out = getattr(tests, name)()
                    except (Failure, subprocess.TimeoutExpired) as failure:
                        print(f"{name}: failed: {failure}")
                        failed.append(name)
                        continue
                    print(f"{name}: {'left out: ' + left_out if left_out else f'the bytes of one process, {time.monotonic() - begin:.1f} s'}",
                          flush=True)
                    if not left_out:
                        done.append(name)
            finally:
                end_descendants()
    print(f"{len(done)} ways of {len(ways)} gave the bytes of one process")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(WAYS):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:] or WAYS))
