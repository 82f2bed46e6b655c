import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { base64, fromBase64, utf8 } from "@seneschal/crypto";
import { bodyHash, operationBytes } from "@seneschal/crypto/signing";
import { crkToJson, dealCrk } from "@seneschal/crypto/threshold";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

const body = { reason: "end of project", revision: 3 };
const operation = {
  ...({ v: 1, op: "workspace.delete", org_id: "acme", audience: "gw-1", resource_type: "workspace", resource_id: "w1" } as const),
  body_sha256: bodyHash(body),
  crk_id: "crk-1",
  crk_epoch: 1,
  nonce: "5b8efff798038103d269b633813fc60c",
  iat: 1_700_000_000,
  exp: 1_700_000_600,
};

describe("bytes are signed offline by a threshold of shares", () => {
  const { crk, shares } = dealCrk({ threshold: 2, total: 3, random: systemRandom });
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "sign-"));
    await writeFile(join(dir, "crk"), JSON.stringify(crkToJson(crk)));
    await writeFile(join(dir, "body"), JSON.stringify(body));
    await writeFile(join(dir, "other"), JSON.stringify({ ...body, revision: 4 }));
    for (const share of shares)
      await writeFile(join(dir, `share-${share.index}`), JSON.stringify({ index: share.index, data: share.encode() }));
  });
  afterAll(() => rm(dir, { recursive: true }));

  const sign = async (message: Uint8Array, ...more: readonly string[]) => {
    const host = scriptedHost({ cwd: dir });
    const given = ["--crk", "crk", "--share", "share-1", "share-3", "--message", base64(message), ...more];
    return {
      code: await run(["sign", ...given], host),
      lines: host.lines,
      shown: host.errors.join("\n"),
      json: () => host.json(),
    };
  };

  test("and who does it reads which operation it is, on what, where and until when; the signature stands alone", async () => {
    const message = operationBytes(operation);
    const { code, lines, shown } = await sign(message, "--body", "body");
    expect(code, shown).toBe(0);
    for (const part of ["workspace.delete", "w1", "gw-1", "acme", "crk-1", "2023-11-14T22:23:20.000Z", "end of project"])
      expect(shown).toContain(part);
    expect(lines).toHaveLength(1);
    expect(nodeCrypto.ed25519Verify(crk.publicKey, message, fromBase64(lines[0] ?? ""))).toBe(true);
    expect((await sign(message, "--json")).json()).toMatchObject({
      signs: { purpose: "operation", payload: operation, body: null },
    });
    const plain = await sign(utf8("release 7\u001b[2J"), "--json");
    expect([plain.code, plain.json()]).toMatchObject([0, { signs: null }]);
    expect(plain.shown).toContain('"release 7\\u001b[2J"');
  });

  test("and nothing is signed that begins like a document and is none, or whose fields are others than are shown", async () => {
    const message = operationBytes(operation);
    for (const refused of [
      await sign(utf8(`${new TextDecoder().decode(message)} `)),
      await sign(message, "--body", "other"),
      await sign(utf8("release 7"), "--body", "body"),
    ]) {
      expect([refused.code, refused.lines]).toEqual([2, []]);
      expect(refused.shown).toContain("nothing was signed");
    }
  });
});
