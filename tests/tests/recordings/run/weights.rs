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

fn stage(script: &str) -> Stage {
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
fn a_model_without_weights_has_the_shapes_of_its_config() {
    let stage = stage(
        "from transformers import PreTrainedModel\n\
         (file,), options = PreTrainedModel.from_pretrained('org/name', variant='fp16', device_map='auto')\n\
         print(file.shapes(), file.bytes > 4 << 30, file.blocks < 100, options)\n",
    );
    let says = ["{'weight': [1048576, 1024]} True True {'device_map': 'auto'}", "it fits"];
    stage.run(&EMPTY).check(0, &says);
    stage.run(&EMPTY).check(0, &["The weights of org/name are not here: 1.07 billion numbers, 4.00 GiB"]);
    assert_eq!(stage.scene.names("org/name", ""), ["config.json"]);
    stage.run(&[]).check(3, &["no file named model.safetensors in org/name"]);
}

#[test]
fn what_git_leaves_in_place_of_a_file_is_no_file() {
    let stage = stage(
        "from transformers import PreTrainedModel\n\
         print(PreTrainedModel.from_pretrained('org/name')[0][0].shapes())\n",
    );
    stage.scene.write("org/name/model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
    stage.run(&EMPTY).check(0, &["{'weight': [1048576, 1024]}"]);
}

#[test]
fn a_header_is_enough() {
    let header = r#"{"a":{"dtype":"BF16","shape":[3,5],"data_offsets":[0,1048576]}}"#;
    let stage = stage(
        "import struct\nfrom safetensors import safe_open\n\
         header = open('header', 'rb').read()\n\
         open('cut.safetensors', 'wb').write(struct.pack('<Q', len(header)) + header + b'1234')\n\
         file = safe_open('cut.safetensors')\nprint(file.shapes(), file.bytes)\n",
    );
    stage.scene.write("header", header);
    let bytes = format!("{{'a': [3, 5]}} {}", 8 + header.len() + 1_048_576);
    stage.run(&EMPTY).check(0, &[&bytes, "The weights in cut.safetensors are not here"]);
}

#[test]
fn a_module_that_loads_a_missing_file_keeps_its_shapes() {
    let stage = stage(
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
    let stage = stage(
        "small, large = torch.nn.Module(10, 10), torch.nn.Module(1024, 1024)\n\
         print('filled', small.weight.is_filled, large.weight.is_filled)\n",
    );
    stage.run(&EMPTY).check(0, &["filled True False"]);
    stage.run(&[]).check(0, &["filled True True"]);
}

#[test]
fn a_model_that_is_not_here_says_what_to_give() {
    let stage = stage("from transformers import PreTrainedModel\nPreTrainedModel.from_pretrained('org/other')\n");
    stage.run(&EMPTY).check(3, &["The config of org/other is not on this machine", "into a folder org/other"]);
}

#[test]
fn an_error_of_the_network_says_what_to_give() {
    let stage = Stage::new("import torch\nraise OSError('Max retries exceeded with url: /x')\n");
    let says =
        ["ended before it used CUDA: OSError at train.py:2: Max retries", "The script asked the network for a file"];
    stage.run(&[]).check(3, &says);
}
