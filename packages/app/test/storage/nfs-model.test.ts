import fc from "fast-check";
import { expect, test } from "vitest";
import { collectGarbage } from "../../src/storage/jobs/collect-garbage.ts";
import { filesOf, mountData, type NfsRig, okOf, openNfsRig, statusName } from "./nfs-rig.ts";
import { pattern } from "./rig.ts";

/** A file system in memory: files and directories by path; the root is always there. */
type Model = Map<string, { readonly kind: "directory" } | { readonly kind: "file"; bytes: Buffer }>;

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));
const isBelow = (path: string, directory: string): boolean => path.startsWith(`${directory}/`);
const entriesOf = (model: Model, directory: string): string[] =>
  [...model.keys()].filter((path) => path !== "" && parentOf(path) === directory).map((path) => path.slice(directory.length + 1));

/** Why a path has nothing in it that could be found: a name on the way is missing, or no directory. */
function wayTo(model: Model, path: string): "ENOENT" | "ENOTDIR" | undefined {
  const names = path.split("/").slice(1);
  for (let i = 1; i <= names.length; i++) {
    const at = model.get(`/${names.slice(0, i - 1).join("/")}`.replace(/\/$/, ""));
    if (at === undefined) return "ENOENT";
    if (at.kind !== "directory") return "ENOTDIR";
  }
  return undefined;
}

const names = ["a", "b", "c"];
const path = fc
  .array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 })
  .map((segments) => segments.map((name) => `/${name}`).join(""));
const sizes = fc.oneof(
  { weight: 6, arbitrary: fc.nat(9000) },
  { weight: 1, arbitrary: fc.constantFrom(4_194_300, 4_194_304, 4_200_000) },
);

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("create" as const), path }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("mkdir" as const), path }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant("write" as const), path, at: sizes, length: fc.nat(9000), stable: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("truncate" as const), path, at: sizes }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("commit" as const), path }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("read" as const), path }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("list" as const), path }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("remove" as const), path }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("rmdir" as const), path }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("rename" as const), path, to: path }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("restart" as const, "collect" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const untouched = { kind: "DONT_CHANGE", value: undefined } as const;
const nothing = { mode: undefined, uid: undefined, gid: undefined, size: undefined, atime: untouched, mtime: untouched };
const none = new Uint8Array(8);

/** One history on both: the server, and the model of what is there, durable or only written. */
async function run(steps: readonly Step[]): Promise<void> {
  let nfs: NfsRig = await openNfsRig({ devices: 3, data: 2, parity: 1, tenants: ["alpha"] });
  let files = await mountData(nfs);
  const model: Model = new Map([["", { kind: "directory" }]]);
  /** What of each file is durable at the least. */
  const durable = new Map<string, Buffer>();
  const nameOf = (it: string) => Buffer.from(it.slice(it.lastIndexOf("/") + 1));
  const dirOf = (it: string) => files.walk(parentOf(it));
  const outcome = (work: Promise<{ readonly status: number }>): Promise<string> =>
    work.then(
      ({ status }) => statusName(status),
      (error: Error) => error.message,
    );
  const fileAt = (it: string): { bytes: Buffer } | undefined => {
    const found = model.get(it);
    return found?.kind === "file" ? found : undefined;
  };
  /** What a call on a file answers. */
  const onFile = (it: string): string => wayTo(model, it) ?? (model.has(it) ? "OK" : "ENOENT");
  const check = async (it: string): Promise<void> => {
    const expected = (fileAt(it) as { bytes: Buffer }).bytes;
    expect(Number((await files.attributes(it)).size), it).toBe(expected.length);
    const pieces: Buffer[] = [];
    for (let at = 0; ; ) {
      const { data, eof } = await files.read(it, at);
      pieces.push(data);
      at += data.length;
      if (eof) break;
    }
    expect(Buffer.concat(pieces).equals(expected), `bytes of ${it}`).toBe(true);
  };
  const settle = (it: string): void => {
    const file = fileAt(it);
    if (file !== undefined) durable.set(it, Buffer.from(file.bytes));
  };
  const moveTree = (from: string, to: string): void => {
    for (const at of [...model.keys()].filter((key) => key === from || isBelow(key, from))) {
      const moved = to + at.slice(from.length);
      model.set(moved, model.get(at) as never);
      model.delete(at);
      const kept = durable.get(at);
      durable.delete(at);
      durable.delete(moved);
      if (kept !== undefined) durable.set(moved, kept);
    }
  };
  try {
    for (const s of steps) {
      if (s.do === "restart") {
        // A clean stop makes everything durable.
        nfs = await nfs.restart();
        const client = await nfs.client();
        files = { client, handle: files.handle, ...filesOf(client, files.handle) };
        for (const it of model.keys()) settle(it);
      } else if (s.do === "collect") await collectGarbage(nfs.rig.node.parts);
      else if (s.do === "create") {
        const args = async () => ({
          where: { dir: await dirOf(s.path), name: nameOf(s.path) },
          how: { kind: "GUARDED" as const, value: nothing },
        });
        const expected = wayTo(model, s.path) ?? (model.has(s.path) ? "EEXIST" : "OK");
        expect(await outcome(args().then((a) => files.client.call("CREATE", a))), `create ${s.path}`).toBe(expected);
        if (expected === "OK") {
          model.set(s.path, { kind: "file", bytes: Buffer.alloc(0) });
          settle(s.path);
        }
      } else if (s.do === "mkdir") {
        const expected = wayTo(model, s.path) ?? (model.has(s.path) ? "EEXIST" : "OK");
        const call = async () =>
          files.client.call("MKDIR", { where: { dir: await dirOf(s.path), name: nameOf(s.path) }, attributes: nothing });
        expect(await outcome(call()), `mkdir ${s.path}`).toBe(expected);
        if (expected === "OK") model.set(s.path, { kind: "directory" });
      } else if (s.do === "write") {
        const way = onFile(s.path);
        const expected = way !== "OK" ? way : fileAt(s.path) === undefined ? "EISDIR" : "OK";
        const data = pattern(s.length, s.at + 1);
        const stable = s.stable ? "FILE_SYNC" : "UNSTABLE";
        const call = async () =>
          files.client.call("WRITE", { handle: await files.walk(s.path), offset: BigInt(s.at), count: s.length, stable, data });
        expect(await outcome(call()), `write ${s.path}`).toBe(expected);
        const file = fileAt(s.path);
        if (file !== undefined && s.length > 0) {
          const next = Buffer.alloc(Math.max(file.bytes.length, s.at + s.length));
          next.set(file.bytes);
          next.set(data, s.at);
          file.bytes = next;
        }
        if (s.stable) settle(s.path);
      } else if (s.do === "truncate") {
        const way = onFile(s.path);
        const expected = way !== "OK" ? way : fileAt(s.path) === undefined ? "EISDIR" : "OK";
        const attributes = { ...nothing, size: BigInt(s.at) };
        const call = async () => files.client.call("SETATTR", { handle: await files.walk(s.path), attributes, guard: undefined });
        expect(await outcome(call()), `truncate ${s.path}`).toBe(expected);
        const file = fileAt(s.path);
        if (file !== undefined) {
          const next = Buffer.alloc(s.at);
          next.set(file.bytes.subarray(0, s.at));
          file.bytes = next;
        }
        settle(s.path);
      } else if (s.do === "commit") {
        const call = async () => files.client.call("COMMIT", { handle: await files.walk(s.path), offset: 0n, count: 0 });
        expect(await outcome(call()), `commit ${s.path}`).toBe(onFile(s.path));
        settle(s.path);
        // Durable is also: seen by S3.
        const file = fileAt(s.path);
        if (file !== undefined) expect((await nfs.get(s.path.slice(1))).equals(file.bytes)).toBe(true);
      } else if (s.do === "read") {
        if (fileAt(s.path) !== undefined) await check(s.path);
        else expect(await outcome(files.walk(s.path).then(() => ({ status: 0 })))).toBe(onFile(s.path));
      } else if (s.do === "list") {
        if (model.get(s.path)?.kind === "directory") expect(await files.list(s.path)).toEqual(entriesOf(model, s.path).sort());
      } else if (s.do === "remove") {
        const way = onFile(s.path);
        const expected = way !== "OK" ? way : fileAt(s.path) === undefined ? "EISDIR" : "OK";
        const call = async () => files.client.call("REMOVE", { dir: await dirOf(s.path), name: nameOf(s.path) });
        expect(await outcome(call()), `remove ${s.path}`).toBe(expected);
        if (expected === "OK") model.delete(s.path);
        if (expected === "OK") durable.delete(s.path);
      } else if (s.do === "rmdir") {
        const way = onFile(s.path);
        const inside = entriesOf(model, s.path).length > 0;
        const expected = way !== "OK" ? way : fileAt(s.path) !== undefined ? "ENOTDIR" : inside ? "ENOTEMPTY" : "OK";
        const call = async () => files.client.call("RMDIR", { dir: await dirOf(s.path), name: nameOf(s.path) });
        expect(await outcome(call()), `rmdir ${s.path}`).toBe(expected);
        if (expected === "OK") model.delete(s.path);
      } else if (s.do === "rename") {
        const [from, to] = [model.get(s.path), model.get(s.to)];
        const parents = [parentOf(s.path), parentOf(s.to)];
        const walked = parents.map((it) => wayTo(model, it) ?? (model.has(it) ? undefined : "ENOENT")).find(Boolean);
        const plain = parents.some((it) => fileAt(it) !== undefined) ? "ENOTDIR" : undefined;
        const way = walked ?? plain ?? (from === undefined ? "ENOENT" : "OK");
        let expected = way;
        if (way === "OK" && s.path !== s.to) {
          if (from?.kind === "directory" && to?.kind === "file") expected = "ENOTDIR";
          else if (from?.kind === "file" && to?.kind === "directory") expected = "EISDIR";
          else if (from?.kind === "directory" && isBelow(s.to, s.path)) expected = "EINVAL";
          else if (to?.kind === "directory" && entriesOf(model, s.to).length > 0) expected = "ENOTEMPTY";
        }
        const call = async () =>
          files.client.call("RENAME", {
            from: { dir: await dirOf(s.path), name: nameOf(s.path) },
            to: { dir: await dirOf(s.to), name: nameOf(s.to) },
          });
        const opened = from?.kind === "file" ? await files.walk(s.path) : undefined;
        expect(await outcome(call()), `rename ${s.path} to ${s.to}`).toBe(expected);
        if (expected === "OK" && s.path !== s.to) moveTree(s.path, s.to);
        // A handle goes with its file.
        if (expected === "OK" && opened !== undefined)
          expect(Number(okOf(await files.client.call("GETATTR", { handle: opened })).attributes.size)).toBe(
            fileAt(s.to)?.bytes.length,
          );
      }
    }
    for (const [it, node] of model) {
      if (node.kind === "file") await check(it);
      else expect(await files.list(it), it).toEqual(entriesOf(model, it).sort());
    }
    const { entries } = okOf(await files.client.call("READDIR", { dir: files.handle, cookie: 0n, verifier: none, count: 8192 }));
    expect(entries.length).toBe(entriesOf(model, "").length + 2);
    // After a crash nothing that was acknowledged as durable is missing, and garbage collection took none of it.
    await collectGarbage(nfs.rig.node.parts);
    for (const [it, bytes] of durable) {
      const stored = await nfs.get(it.slice(1));
      expect(stored.length, it).toBeGreaterThanOrEqual(0);
      if ((fileAt(it) as { bytes: Buffer }).bytes.equals(bytes))
        expect(stored.equals(bytes), `durable bytes of ${it}`).toBe(true);
    }
  } finally {
    await nfs.dispose();
  }
}

test("any history of file operations, with restarts and collections between them, is that of a file system in memory", async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60, size: "max" }), run), {
    numRuns: Number(process.env["FC_RUNS"] ?? 40),
  });
}, 3_600_000);
