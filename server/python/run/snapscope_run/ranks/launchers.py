"""Programs that start ranks: under `--world` each becomes the one rank that this process is."""

import os
import sys

from ..importing import when_imported


def install():
    """Waits for the launchers of accelerate and DeepSpeed; torchrun is left out of the command before."""
    when_imported("torch.distributed.run", _wrap_elastic, lambda error: None)
    when_imported("deepspeed.launcher.runner", _wrap_deepspeed, lambda error: None)


def _wrap_elastic(module):
    """Lets accelerate become the program of a rank, with the variables that it has set by now."""

    def run(args):
        _, program, words = module.config_from_args(args)
        _become([program, *words])

    module.run = run


def _wrap_deepspeed(module):
    def main(args=None):
        args = module.parse_args(args)
        command = [] if args.no_python else [sys.executable, "-u", *(["-m"] if args.module else [])]
        rank = [] if args.no_local_rank else [f"--local_rank={os.environ['LOCAL_RANK']}"]
        _become([*command, args.user_script, *rank, *args.user_args])

    module.main = main


def _become(command):
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvp(command[0], command)
