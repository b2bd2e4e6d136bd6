class Snapscope < Formula
  desc "Explains the GPU memory of PyTorch programs"
  homepage "@RELEASES@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_linux do
    on_intel do
      url "@RELEASES@/snapscope-x86_64-linux.tar.gz"
      sha256 "@snapscope-x86_64-linux.tar.gz@"
    end
    on_arm do
      url "@RELEASES@/snapscope-aarch64-linux.tar.gz"
      sha256 "@snapscope-aarch64-linux.tar.gz@"
    end
  end

  def install
    bin.install "snapscope"
    generate_completions_from_executable(bin/"snapscope", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/snapscope --version")
  end
end
