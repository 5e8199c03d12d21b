"""A job for continuous integration: one prompt, a time limit, and an exit code that says how it went.

    python examples/ci_job.py 'make the tests pass' 600

No person can answer, so nothing asks for approval: what the sandbox does not allow fails.
"""

import sys

import greenroom

DONE, FAILED, TIMED_OUT = 0, 1, 124


def main(prompt: str, limit_s: float) -> int:
    with greenroom.Client(start=True) as client:
        job = client.create(approval_policy="never", sandbox="workspace-write").conversation
        try:
            turn = client.send_and_wait(job, prompt, timeout_s=limit_s)
        except greenroom.TimedOut:
            client.interrupt(job, reason=f"the job may take {limit_s:g} s")
            print(f"stopped after {limit_s:g} s; `greenroom logs {job[:8]}` shows how far it came", file=sys.stderr)
            return TIMED_OUT
        print(turn.message or "")
        if turn.ending != "completed":
            print(f"the turn ended as {turn.ending}", file=sys.stderr)
            return FAILED
        return DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2])))
