import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type NfsClient, openNfsClient } from "@seneschal/server-nfs";
import { expect, onTestFinished, test } from "vitest";
import { sourceOptions } from "../../../../tools/source-options.ts";
import { okOf, user } from "./nfs-rig.ts";
import { pattern } from "./rig.ts";

const child = fileURLToPath(new URL("kill-nfs-child.ts", import.meta.url));
const rounds = Number(process.env["KILL_ROUNDS"] ?? 2);
const lanes = 4;

/** What a file may be after a kill. */
interface Known {
  readonly handle: Uint8Array;
  /** As it was last acknowledged to be durable, and with what was written since. */
  durable: Buffer;
  written: Buffer;
  /** A call that makes it durable was not answered. */
  settling: boolean;
  /** Two while a rename was not answered. */
  names: readonly string[];
}

async function start(
  directory: string,
): Promise<{ readonly node: ChildProcess; readonly client: NfsClient; readonly root: Uint8Array }> {
  const node = spawn(process.execPath, [...sourceOptions, child, directory], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: node.stdout })) {
    const client = await openNfsClient({ host: "127.0.0.1", port: Number(line), user });
    const { handle } = await client.mount("/data");
    return { node, client, root: handle as Uint8Array };
  }
  throw new Error("the node did not start");
}

async function contentOf(client: NfsClient, handle: Uint8Array): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let offset = 0n; ; ) {
    const { data, eof } = okOf(await client.call("READ", { handle, offset, count: 1 << 20 }));
    pieces.push(Buffer.from(data));
    offset += BigInt(data.length);
    if (eof) return Buffer.concat(pieces);
  }
}

/** Writes, commits and renames a file until its node is killed; `acknowledged` is told of every answer. */
async function work(client: NfsClient, root: Uint8Array, file: Known, seed: number, acknowledged: () => void): Promise<void> {
  const { handle } = file;
  for (let n = seed; ; n++) {
    if (n % 11 === 0) {
      const [from = ""] = file.names;
      const to = from.startsWith("a") ? from.replace("a", "b") : from.replace("b", "a");
      file.names = [from, to];
      const name = (text: string) => ({ dir: root, name: Buffer.from(text) });
      okOf(await client.call("RENAME", { from: name(from), to: name(to) }));
      file.names = [to];
    } else if (n % 3 === 0) {
      file.settling = true;
      okOf(await client.call("COMMIT", { handle, offset: 0n, count: 0 }));
      [file.durable, file.settling] = [file.written, false];
    } else {
      const [offset, data] = [(n * 1_700_001) % 5_000_000, pattern(1 + ((n * 7919) % 200_000), n)];
      const written = Buffer.alloc(Math.max(file.written.length, offset + data.length));
      file.written.copy(written);
      written.set(data, offset);
      const stable = n % 7 === 0 ? "FILE_SYNC" : "UNSTABLE";
      file.settling = stable === "FILE_SYNC";
      file.written = written;
      okOf(await client.call("WRITE", { handle, offset: BigInt(offset), count: data.length, stable, data }));
      if (file.settling) [file.durable, file.settling] = [written, false];
    }
    acknowledged();
  }
}

test(
  "kill -9 loses nothing that COMMIT, a synchronous write or a rename acknowledged; handles outlive it, and the verifier is another",
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "seneschal-kill-nfs-"));
    const files: Known[] = [];
    const verifiers = new Set<string>();
    for (let round = 0; round <= rounds; round++) {
      const { node, client, root } = await start(directory);
      onTestFinished(() => void node.kill("SIGKILL"));
      const ended = once(node, "close");
      for (let i = files.length; i < lanes; i++) {
        const how = { kind: "EXCLUSIVE", value: Buffer.alloc(8, i) } as const;
        const { handle } = okOf(await client.call("CREATE", { where: { dir: root, name: Buffer.from(`a${i}`) }, how }));
        const none = Buffer.alloc(0);
        files.push({
          handle: Buffer.from(handle as Uint8Array),
          durable: none,
          written: none,
          settling: false,
          names: [`a${i}`],
        });
      }
      for (const file of files) {
        const found = await contentOf(client, file.handle);
        const may = file.settling ? [file.durable, file.written] : [file.durable];
        expect(
          may.some((bytes) => bytes.equals(found)),
          `${file.names} has what was not written to it`,
        ).toBe(true);
        Object.assign(file, { durable: found, written: found, settling: false });
        const named = await Promise.all(
          file.names.map(async (name) => ({ name, reply: await client.call("LOOKUP", { dir: root, name: Buffer.from(name) }) })),
        );
        const there = named.filter(({ reply }) => reply.status === 0);
        const { fileid } = okOf(await client.call("GETATTR", { handle: file.handle })).attributes;
        expect(there.map(({ reply }) => okOf(reply).attributes?.fileid)).toEqual([fileid]);
        file.names = there.map(({ name }) => name);
        verifiers.add(
          Buffer.from(okOf(await client.call("COMMIT", { handle: file.handle, offset: 0n, count: 0 })).verifier).toString("hex"),
        );
      }
      expect(verifiers.size).toBe(round + 1);
      let left = round === rounds ? 0 : 20 + ((round * 17) % 60);
      if (left === 0) node.kill("SIGKILL");
      else
        await Promise.all(
          files.map((file, i) =>
            work(client, root, file, round * 1000 + i * 100 + 1, () => {
              left -= 1;
              if (left === 0) node.kill("SIGKILL");
            }).catch((error: unknown) => expect(error).toMatchObject({ code: "connection_closed" })),
          ),
        );
      await ended;
      client.close();
    }
    await rm(directory, { recursive: true, force: true });
  },
  120_000 * (rounds + 1),
);
