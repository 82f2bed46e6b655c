import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readBundle } from "@seneschal/rego";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findOpa } from "../policy/find-opa.ts";

const opa = findOpa();

describe.skipIf(opa === undefined)(`bundles that opa signs${opa === undefined ? " (not here: opa)" : ""}`, () => {
  let work: string;
  beforeAll(() => {
    work = mkdtempSync(join(tmpdir(), "seneschal-bundle-"));
    const files = {
      ".manifest": '{"revision": "7", "roots": ["acme"]}',
      "acme/p.rego": "package acme.p\n\nallow if data.acme.users[input.user]\n",
      "acme/data.json": '{"users": {"ada": true}, "n": [1.0, -2e3, 12345678901234567890], "é<>&\\u2028\\"": "\\u0001/"}',
      "acme/more/data.yaml": "x: [1, two]\n",
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(work, "bundle", name)), { recursive: true });
      writeFileSync(join(work, "bundle", name), text);
    }
  });
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  const filesOf = () =>
    (readdirSync(join(work, "bundle"), { recursive: true }) as string[])
      .filter((path) => statSync(join(work, "bundle", path)).isFile())
      .map((path) => ({ path, bytes: readFileSync(join(work, "bundle", path)) }));

  test.each(["HS256", "RS256", "ES256"])("with %s are verified, and refused once a file differs", (algorithm) => {
    const pair =
      algorithm === "ES256"
        ? generateKeyPairSync("ec", { namedCurve: "P-256" })
        : generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem =
      algorithm === "ES256"
        ? pair.privateKey.export({ format: "pem", type: "sec1" })
        : pair.privateKey.export({ format: "pem", type: "pkcs1" });
    writeFileSync(join(work, "key.pem"), pem);
    const secret = "a secret of the publisher, long enough for its hash";
    execFileSync(
      opa as string,
      [
        "sign",
        "--bundle",
        ".",
        "--signing-alg",
        algorithm,
        "--signing-key",
        algorithm === "HS256" ? secret : "../key.pem",
        "--output-file-path",
        ".",
      ],
      { cwd: join(work, "bundle") },
    );
    const publicKey = algorithm === "HS256" ? secret : (pair.publicKey.export({ format: "pem", type: "spki" }) as string);
    const files = filesOf();
    expect(readBundle(files, { key: { key: publicKey, algorithm } })).toMatchObject({
      revision: "7",
      roots: ["acme"],
      data: { acme: { more: { x: [1, "two"] } } },
    });
    for (const path of files.map((file) => file.path).filter((name) => name !== ".signatures.json")) {
      const changed = files.map((file) =>
        file.path === path ? { path, bytes: Buffer.concat([file.bytes, Buffer.from("\nq: 1\n")]) } : file,
      );
      expect(() => readBundle(changed, { key: { key: publicKey, algorithm } }), path).toThrow(/bundle|JSON|signed/);
    }
  });
});
