import { chmodSync, mkdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemRandom } from "@seneschal/adapters/system";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeUnsealKey } from "../../src/compose/make-unseal-key.ts";
import { openDatabase } from "../../src/compose/open-database.ts";
import { openSigningKey } from "../../src/compose/open-signing-key.ts";
import { makePrivateDirectory, requirePrivateKey } from "../../src/compose/private-files.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "private-"));
  // As an operator's own may be.
  chmodSync(directory, 0o755);
});
afterEach(() => rm(directory, { recursive: true, force: true }));
const mode = (path: string): number => statSync(path).mode & 0o777;

it("a store's directory is its owner's alone, whatever is around it", async () => {
  const path = join(directory, "a", "gateway");
  const store = await openDatabase({ kind: "level" }, { collections: {} }, path);
  await store.close();
  expect([mode(path), mode(join(directory, "a"))]).toEqual([0o700, 0o700]);
});

it("a directory that stands open to the world is shut to it; its group is the operator's", async () => {
  for (const [before, after] of [
    [0o755, 0o750],
    [0o777, 0o770],
    [0o750, 0o750],
    [0o700, 0o700],
  ] as const) {
    const path = join(directory, before.toString(8));
    mkdirSync(path);
    chmodSync(path, before);
    await makePrivateDirectory(path);
    expect(mode(path)).toBe(after);
  }
});

it("a key is made for its owner, and refused by every mode that lets the world in or its group write", async () => {
  const { path } = await makeUnsealKey(join(directory, "data", "unseal.key"), systemRandom);
  const signing = join(directory, "data", "audit-key.pem");
  await openSigningKey(signing);
  expect([mode(path), mode(signing), mode(join(directory, "data"))]).toEqual([0o600, 0o600, 0o700]);
  for (let bits = 0; bits < 0o100; bits += 1) {
    for (const key of [path, signing]) chmodSync(key, 0o600 | bits);
    const refused = (bits & 0o027) !== 0;
    for (const open of [() => requirePrivateKey(path), () => openSigningKey(signing)]) {
      if (refused) await expect(open()).rejects.toMatchObject({ code: "config_invalid" });
      else await open();
    }
  }
});
