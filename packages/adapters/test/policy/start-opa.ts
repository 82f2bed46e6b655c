import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
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
  for (let tries = 0; tries < 600 && server.exitCode === null; tries++) {
    if (await listens(socket)) {
      const health = await fetch(`${url}/health`);
      if (health.ok) return { url, stop };
    }
    await wait(100);
  }
  stop();
  throw new Error("the OPA server did not start");
}

function listens(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once("error", () => resolve(false));
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
  });
}
