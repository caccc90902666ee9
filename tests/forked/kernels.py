"""Fork the kernels of nbval from a server.

On systems that cannot fork in this way, and when a notebook is tested without the tests
of this folder, a kernel is started as Jupyter starts it.
"""

from importlib.metadata import EntryPoint

import nbval.kernel
import nbval.plugin
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

from tests.forked.process import ForkedProcess
from tests.patience import SECONDS

NAME = "forked"


def fork_kernels():
    """Let nbval fork its kernels, and wait for them, from now on in this process."""
    provisioner = EntryPoint(NAME, f"{__name__}:ForkedProvisioner", "")
    KernelProvisionerFactory.instance().provisioners[NAME] = provisioner
    nbval.kernel.KernelManager = ForkedKernelManager
    nbval.plugin.RunningKernel = PatientKernel


class PatientKernel(nbval.kernel.RunningKernel):
    """A kernel that may take longer over its first reply than nbval's ten seconds."""

    def await_reply(self, msg_id, timeout=SECONDS):
        timeout = max(timeout, SECONDS)
        super().await_reply(msg_id, timeout=timeout)


class ForkedKernelManager(KernelManager):
    @property
    def kernel_spec(self):
        spec = super().kernel_spec
        spec.metadata["kernel_provisioner"] = {"provisioner_name": NAME}
        return spec


class ForkedProvisioner(LocalProvisioner):
    async def launch_kernel(self, cmd, **kwargs):
        self.cwd = kwargs["cwd"]
        module, *arguments = cmd[cmd.index("-m") + 1 :]
        assert module == "ipykernel_launcher"
        # The kernel ends when its parent, the server, ends.
        arguments += ["--IPKernelApp.parent_handle", "{parent}"]
        environment = kwargs["env"] | {"JPY_PARENT_PID": "{parent}"}
        self.process = ForkedProcess(module, arguments, self.cwd, environment)
        self.pid = self.pgid = self.process.pid
        return self.connection_info
