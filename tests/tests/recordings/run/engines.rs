//! Tests what the command says of inference engines and servers, with a small `uvicorn` beside the script.

use super::Stage;

/// What vLLM logs in a process of its own, whose name its lines have.
const ENGINE: &str = "import logging, multiprocessing, sys, torch\n\
    def start():\n    \
    block = torch.Block(1 << 30)\n    \
    log = logging.getLogger('vllm.v1.worker')\n    \
    log.setLevel('INFO')\n    \
    log.info('Model loading took %s GiB and 1.5 seconds', '2.0')\n";

/// A server that starts and waits for requests.
const SERVER: &str = "import asyncio\n\
    class Server:\n    \
    async def main_loop(self): await asyncio.sleep(100)\n";

fn engine(rest: &str) -> Stage {
    let start = "process = multiprocessing.get_context('fork').Process(target=start, name='EngineCore')\n\
        process.start()\nprocess.join()\nif process.exitcode: sys.exit('Engine core initialization failed')\n";
    Stage::new(&format!("{ENGINE}{rest}{start}"))
}

#[test]
fn what_an_engine_logs_is_in_the_verdict_with_its_errors() {
    let stage = engine(
        "    log.info('Available KV cache memory: 4.42 GiB')\n    \
         log.info('GPU KV cache size: 36,160 tokens')\n",
    );
    stage.run(&[]).check(0, &["it fits", "vLLM on 1 GPU, a KV cache of 36,160 tokens", "weights", "4.42 GiB"]);
    let found = &stage.document(&[], 0)[0]["engine"];
    assert_eq!(found["owners"][0]["parts"][0]["bytes"], 2_u64 << 30);
    let stage = engine(
        "    try: raise ValueError('To serve at least one request with the models\\'s max seq len (131072), (16.0 GiB KV \
         cache is needed, which is larger than the available KV cache memory (4.42 GiB). Based on the available memory, \
         the estimated maximum model length is 36192.')\n    \
         except ValueError:\n        \
         log.exception('EngineCore failed to start.')\n        \
         raise\n",
    );
    stage.run(&[]).check(1, &["One request of 131,072 tokens needs 16.0 GiB of KV cache", "`--max-model-len 36192`"]);
    engine("    raise ValueError('no such model')\n").run(&[]).check(3, &["ValueError at train.py:7: no such model"]);
}

#[test]
fn a_server_ends_once_it_waits() {
    let stage = Stage::new(
        "import asyncio, torch\nfrom uvicorn.server import Server\nblock = torch.Block(1 << 30)\n\
         asyncio.run(Server().main_loop())\n",
    );
    stage.scene.write("uvicorn/server.py", SERVER);
    stage.run(&[]).check(0, &["stopped when it had started and waited for requests", "it fits so far"]);
    stage.run(&["--time", "2s"]).check(0, &["as asked"]);
}
