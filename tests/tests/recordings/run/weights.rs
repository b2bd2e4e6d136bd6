//! Tests `--weights empty`, with a small `transformers` and `safetensors` beside the script.

use super::Stage;

/// A library that reads the header of each file that it opens.
const SAFETENSORS: &str = "import json, os, struct\n\
    class safe_open:\n    \
    def __init__(self, path):\n        \
    with open(path, 'rb') as file:\n            \
    self.header = json.loads(file.read(struct.unpack('<Q', file.read(8))[0]))\n            \
    self.bytes, self.blocks = os.stat(path).st_size, os.stat(path).st_blocks\n    \
    def shapes(self):\n        \
    return {name: entry['shape'] for name, entry in self.header.items() if name != '__metadata__'}\n";

/// A library whose models are one layer as large as the config says.
const TRANSFORMERS: &str = "import json\nfrom torch.nn import Module\n\
    class AutoConfig:\n    \
    @classmethod\n    \
    def from_pretrained(cls, folder, **options):\n        \
    config = cls()\n        \
    vars(config).update(json.load(open(folder + '/config.json')))\n        \
    return config\n\
    class LlamaForCausalLM(Module):\n    \
    def __init__(self, config):\n        super().__init__(config.size, 1024)\n\
    from .modeling_utils import PreTrainedModel\n";
const MODELING: &str = "import glob, os\nfrom safetensors import safe_open\n\
    class PreTrainedModel:\n    \
    @classmethod\n    \
    def from_pretrained(cls, folder, **options):\n        \
    files = sorted(glob.glob(folder + '/*.safetensors'))\n        \
    if not files: raise OSError('no file named model.safetensors in ' + folder)\n        \
    return [safe_open(file) for file in files], options\n";

/// The part of PEFT that loads an adapter, and the part of accelerate that loads a checkpoint.
const PEFT: &str = "from types import SimpleNamespace\n\
    torch = SimpleNamespace(empty_like=lambda tensor, device: (tensor.shape, device))\n\
    infer_device = lambda: 'cuda'\n\
    def load_peft_weights(folder, device=None): return open(folder + '/adapter_model.safetensors')\n\
    def get_peft_model_state_dict(model, adapter_name, save_embedding_layers): return {adapter_name: model.weight}\n\
    def set_peft_model_state_dict(model, state, adapter_name='default'): model.adapter = state\n";
const ACCELERATE: &str = "import glob\nfrom safetensors import safe_open\n\
    def load_checkpoint_in_model(model, checkpoint):\n    \
    model.loaded = [safe_open(file).shapes() for file in glob.glob(checkpoint + '/*.safetensors')]\n";

fn prepared(script: &str) -> Stage {
    let stage = Stage::new(&format!("import torch\nblock = torch.Block(5)\n{script}"));
    stage.scene.write("safetensors/__init__.py", SAFETENSORS);
    stage.scene.write("transformers/__init__.py", TRANSFORMERS);
    stage.scene.write("transformers/modeling_utils.py", MODELING);
    let config = r#"{"architectures": ["LlamaForCausalLM"], "size": 1048576, "dtype": "float32"}"#;
    stage.scene.write("org/name/config.json", config);
    stage
}

const EMPTY: [&str; 2] = ["--weights", "empty"];

#[test]
fn a_model_without_weights_has_the_shapes_of_its_config_whatever_git_leaves_in_place() {
    let stage = prepared(
        "from transformers import PreTrainedModel\n\
         (file,), options = PreTrainedModel.from_pretrained('org/name', variant='fp16', device_map='auto')\n\
         print(file.shapes(), file.bytes > 4 << 30, file.blocks < 100, options)\n",
    );
    let says = ["{'weight': [1048576, 1024]} True True {'device_map': 'auto'}", "it fits"];
    stage.run(&EMPTY).check(0, &says);
    stage.run(&EMPTY).check(0, &["The weights of org/name are not here: 1.07 billion numbers, 4.00 GiB"]);
    assert_eq!(stage.scene.names("org/name", ""), ["config.json"]);
    stage.run(&[]).check(3, &["no file named model.safetensors in org/name"]);
    let stage = prepared(
        "from transformers import PreTrainedModel\n\
         print(PreTrainedModel.from_pretrained('org/name')[0][0].shapes())\n",
    );
    stage.scene.write("org/name/model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
    stage.run(&EMPTY).check(0, &["{'weight': [1048576, 1024]}"]);
}

#[test]
fn a_header_is_enough_and_a_module_without_a_file_keeps_its_shapes() {
    let header = r#"{"a":{"dtype":"BF16","shape":[3,5],"data_offsets":[0,1048576]}}"#;
    let stage = prepared(
        "import struct\nfrom safetensors import safe_open\n\
         header = open('header', 'rb').read()\n\
         open('cut.safetensors', 'wb').write(struct.pack('<Q', len(header)) + header + b'1234')\n\
         file = safe_open('cut.safetensors')\nprint(file.shapes(), file.bytes)\n",
    );
    stage.scene.write("header", header);
    let bytes = format!("{{'a': [3, 5]}} {}", 8 + header.len() + 1_048_576);
    stage.run(&EMPTY).check(0, &[&bytes, "The weights in cut.safetensors are not here"]);
    let stage = prepared(
        "state = torch.load('no/checkpoint.pt')\nmodel = torch.nn.Module(3, 5)\noptimizer = torch.optim.SGD()\n\
         model.load_state_dict(state['model'])\noptimizer.load_state_dict(state['optimizer'])\n\
         print(model.loaded, hasattr(optimizer, 'loaded'))\nprint(state['model']['weight'].shape)\n",
    );
    let says = ["{'weight': (3, 5)} False", "no/checkpoint.pt is not here, and nothing tells its shapes"];
    stage.run(&EMPTY).check(3, &says);
    stage.run(&[]).check(3, &["FileNotFoundError"]);
}

#[test]
fn large_tensors_of_the_host_are_not_filled() {
    let stage = prepared(
        "small, large = torch.nn.Module(10, 10), torch.nn.Module(1024, 1024)\n\
         print('filled', small.weight.is_filled, large.weight.is_filled)\n",
    );
    stage.run(&EMPTY).check(0, &["filled True False"]);
    stage.run(&[]).check(0, &["filled True True"]);
}

#[test]
fn what_is_not_here_says_what_to_give() {
    let stage = prepared("from transformers import PreTrainedModel\nPreTrainedModel.from_pretrained('org/other')\n");
    stage.run(&EMPTY).check(3, &["The config of org/other is not on this machine", "into a folder org/other"]);
    let stage = Stage::new("import torch\nraise OSError('Max retries exceeded with url: /x')\n");
    let says =
        ["ended before it used CUDA: OSError at train.py:2: Max retries", "The script asked the network for a file"];
    stage.run(&[]).check(3, &says);
}

#[test]
fn adapters_and_checkpoints_without_weights_keep_the_shapes_of_their_model() {
    let stage = prepared(
        "from peft.utils.save_and_load import load_peft_weights, set_peft_model_state_dict\n\
         model = torch.nn.Module(3, 5)\n\
         set_peft_model_state_dict(model, load_peft_weights('tuned'), adapter_name='mine')\nprint(model.adapter)\n",
    );
    for file in ["peft/__init__.py", "peft/utils/__init__.py"] {
        stage.scene.write(file, "");
    }
    stage.scene.write("peft/utils/save_and_load.py", PEFT);
    stage.scene.write("tuned/adapter_config.json", "{}");
    let says = ["{'mine': ((3, 5), 'cuda')}", "The weights of the adapter tuned are not here"];
    stage.run(&EMPTY).check(0, &says);
    stage.run(&[]).check(3, &["FileNotFoundError"]);
    let stage = prepared(
        "from accelerate.utils.modeling import load_checkpoint_in_model\n\
         model = torch.nn.Module(3, 5)\nload_checkpoint_in_model(model, 'no/checkpoint')\nprint(model.loaded)\n",
    );
    for file in ["accelerate/__init__.py", "accelerate/utils/__init__.py"] {
        stage.scene.write(file, "");
    }
    stage.scene.write("accelerate/utils/modeling.py", ACCELERATE);
    stage.run(&EMPTY).check(0, &["[{'weight': [3, 5]}]", "The weights of no/checkpoint are not here"]);
    stage.run(&[]).check(0, &["[]"]);
}
