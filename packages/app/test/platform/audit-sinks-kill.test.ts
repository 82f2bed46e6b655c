import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { sourceOptions } from "../../../../tools/source-options.ts";

it("what was stored comes to a sink although its process is killed again and again: all of it, in order, each round from where the last one ended", async () => {
  const dir = await mkdtemp(join(tmpdir(), "seneschal-sink-kill-"));
  const told: number[] = [];
  const server = createServer((socket) => {
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (piece) => {
      text += piece;
    });
    // What a connection brought counts when it ended in order.
    socket.on("end", () => {
      told.push(...[...text.matchAll(/ seq="(\d+)"/g)].map(([, seq]) => Number(seq)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const run = async (enough: (stored: number) => boolean): Promise<number> => {
    const program = new URL("audit-sink-process.ts", import.meta.url).pathname;
    const child = spawn(process.execPath, [...sourceOptions, program, join(dir, "store"), url], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exit = new Promise((resolve) => child.once("exit", resolve));
    let stored = 0;
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      stored = Number(line);
      if (enough(stored)) child.kill("SIGKILL");
    }
    await exit;
    expect(child.signalCode).toBe("SIGKILL");
    return stored;
  };
  try {
    const first = await run((stored) => stored >= 100 && told.length > 0);
    const before = told.length;
    await run((stored) => stored >= first + 100 && told.length > before);
    await run(() => (told.at(-1) ?? 0) > first + 100);
    expect([...new Set(told)]).toEqual(Array.from({ length: Math.max(...told) }, (_, i) => i + 1));
    expect(Math.max(...told)).toBeGreaterThan(first + 100);
    let highest = 0;
    for (const seq of told) {
      expect(seq).toBeLessThanOrEqual(highest + 1);
      highest = Math.max(highest, seq);
    }
    // Twice come at most the batches that were under way when the process was killed.
    expect(told.length - new Set(told).size).toBeLessThanOrEqual(2 * 500);
  } finally {
    await new Promise((resolve) => server.close(resolve));
    await rm(dir, { recursive: true, force: true });
  }
});
