"""A daemon to be killed: `python host.py LEDGER TOKEN INSTANCE [guarded]` runs stubborn commands until then."""

import asyncio
import sys
from pathlib import Path

from supervisor.work.processes.processes import Processes
from tests.supervisor.work.commands import Watched, command
from tests.support.stubborn import kinds

SPARED = {"runs_away"}  # never the same: found only while we are their parent


async def main(ledger: Path, token: str, instance: str, *, guarded: bool) -> None:
    async with Processes(ledger, instance, 0.2, guarded=guarded) as processes:
        outputs, runs = [], []
        for kind in kinds():
            if kind.name not in SPARED and kind.says_ready:
                argv = (part.format(token=token) for part in kind.argv)
                outputs.append(watched := Watched())
                stubborn = command(*argv, env={"TOKEN": token})
                runs.append(asyncio.create_task(processes.run(stubborn, watched.output)))
        for watched in outputs:
            await watched.spoke.wait()
        print("ready", flush=True)
        await asyncio.gather(*runs)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], guarded="guarded" in sys.argv[4:]))
