import { spawn } from "node:child_process";
import { type AddressInfo, createServer } from "node:net";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((closed) => server.close(() => closed()));
  return port;
}

/** An OPA server of the given program on a free port, once it answers. */
export async function startOpa(program: string): Promise<{ readonly url: string; stop(): void }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ["run", "--server", "--v1-compatible", "--addr", `127.0.0.1:${port}`, "--log-level", "error"];
  const server = spawn(program, args, { stdio: "ignore" });
  const deadline = performance.now() + 60_000;
  for (;;) {
    const up = await fetch(`${url}/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (up) return { url, stop: () => void server.kill() };
    if (performance.now() > deadline || server.exitCode !== null) {
      server.kill();
      throw new Error("the OPA server did not start");
    }
  }
}
