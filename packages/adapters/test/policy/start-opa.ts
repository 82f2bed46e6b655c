import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTcpProxy } from "../../../../tools/tcp-proxy.ts";

/** An OPA server of the given program, once it answers. It listens on a Unix socket of its own; a proxy leads there. */
export async function startOpa(program: string): Promise<{ readonly url: string; stop(): void }> {
  const directory = mkdtempSync(join(tmpdir(), "opa-"));
  const socket = join(directory, "opa.sock");
  const proxy = await startTcpProxy(socket);
  const url = `http://127.0.0.1:${proxy.port}`;
  const args = ["run", "--server", "--v1-compatible", "--addr", `unix://${socket}`, "--log-level", "error"];
  const server = spawn(program, args, { stdio: "ignore" });
  const stop = (): void => {
    server.kill();
    void proxy.close();
    rmSync(directory, { recursive: true, force: true });
  };
  const deadline = performance.now() + 60_000;
  for (;;) {
    const up = await fetch(`${url}/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (up) return { url, stop };
    if (performance.now() > deadline || server.exitCode !== null) {
      stop();
      throw new Error("the OPA server did not start");
    }
  }
}
