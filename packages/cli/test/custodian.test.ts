import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nobleCrypto } from "@seneschal/crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

const custodians = ["ada", "bob", "cy"] as const;
const all = [...custodians, "wim", "sue"];

describe("custodians hold a ceremony among themselves, by one file that they hand round", () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "seneschal-custodian-"));
  });
  afterAll(() => rm(cwd, { recursive: true, force: true }));

  const call = async (args: readonly string[], ...secrets: string[]) => {
    const host = scriptedHost({ cwd, secrets });
    const code = await run(["--json", ...args], host);
    return { code, json: () => host.json(), errors: [...host.lines, ...host.errors].join("\n") };
  };
  const act = (name: string, ...more: string[]) =>
    call(["custodian", "act", "t", "--keys", `${name}.keys`, "--state", `${name}.state`, ...more], `of ${name}`);
  const verify = (...more: string[]) => call(["ceremony", "verify", "t", ...more]);

  test("keys are made on one's own machine, and the card tells them without the passphrase", async () => {
    expect((await call(["custodian", "new", "--org", "acme", "--name", "ada", "--out", "x.keys"], "one", "other")).code).toBe(2);
    for (const name of all) {
      const args = ["custodian", "new", "--org", "acme", "--name", name, "--out", `${name}.keys`];
      const made = await call(args, `of ${name}`, `of ${name}`);
      expect(made.code, made.errors).toBe(0);
      const card = await call(["custodian", "card", `${name}.keys`, "--out", `${name}.card`]);
      expect(card.json()).toMatchObject({ card: { custodian_id: name }, fingerprint: made.json()["fingerprint"] });
      expect((await stat(join(cwd, `${name}.keys`))).mode & 0o077).toBe(0);
    }
    expect(await readdir(cwd)).not.toContain("x.keys");
  });

  test("a start names people by their cards: one person has one seat, and the witness none", async () => {
    const start = (file: string, seats: readonly string[], witness: string) =>
      call(
        [
          ...["custodian", "start", file, "--keys", "sue.keys", "--threshold", "2", "--witness", `${witness}.card`],
          ...["--seat", ...seats.map((name) => `${name}.card`)],
        ],
        "of sue",
      );
    expect((await start("x", ["ada", "ada", "bob"], "wim")).code).toBe(2);
    expect((await start("x", ["ada", "bob", "wim"], "wim")).code).toBe(2);
    expect(await readdir(cwd)).not.toContain("x");
    expect((await start("t", custodians, "wim")).json()).toMatchObject({ ceremony: expect.any(String) });
    expect((await start("t", custodians, "wim")).errors).toContain("t exists already");
    expect((await verify()).json()).toMatchObject({ valid: true, status: "open" });
  });

  test("who has not agreed has no seat, nor who does not know the passphrase; the transcript stays as it was", async () => {
    const before = await readFile(join(cwd, "t"));
    expect((await act("ada")).errors).toContain("3 seats, threshold 2, witness wim");
    const wrong = await call(
      ["custodian", "act", "t", "--keys", "ada.keys", "--state", "ada.state", "--join"],
      "of somebody else",
    );
    expect(wrong.code).toBe(2);
    expect(await readFile(join(cwd, "t"))).toEqual(before);
    expect(await readdir(cwd)).not.toContain("ada.state");
  });

  test("the key is active when each has compared and confirmed one hash, and the witness too; the shares sign, and no file held another's", async () => {
    for (const name of custodians) expect((await act(name, "--join")).json()).toMatchObject({ said: ["join", "commitment"] });
    for (const name of custodians) expect((await act(name)).json()).toMatchObject({ said: ["packages"] });
    for (const name of custodians) expect((await act(name)).json()).toMatchObject({ said: ["accepted"] });
    const { transcript } = (await act("ada")).json() as { readonly transcript: string };
    expect((await act("ada", "--confirm", Buffer.alloc(32).toString("base64"))).json()).toMatchObject({ said: [] });
    for (const name of custodians) {
      expect((await act(name, "--confirm", transcript)).json()).toMatchObject({ said: ["confirmation"] });
      expect((await verify()).json()).toMatchObject({ status: "open" });
    }
    const witness = ["custodian", "act", "t", "--keys", "wim.keys"];
    expect((await call(witness, "of wim")).json()).toMatchObject({ said: [], transcript });
    expect((await call([...witness, "--confirm", transcript], "of wim")).json()).toMatchObject({ said: ["witness"] });

    expect((await act("ada")).errors).toContain("--share");
    for (const name of custodians) {
      const done = await act(name, "--share", `${name}.share`);
      expect(done.json()).toMatchObject({ outcome: "active" });
      await writeFile(join(cwd, "crk"), JSON.stringify(done.json()["crk"]));
      expect((await stat(join(cwd, `${name}.share`))).mode & 0o077).toBe(0);
    }
    expect((await readdir(cwd)).filter((name) => name.endsWith(".state"))).toEqual([]);

    const message = Buffer.from("release 7").toString("base64");
    const sign = async (...names: string[]) =>
      call(["sign", "--crk", "crk", "--message", message, "--share", ...names.map((name) => `${name}.share`)]);
    const signed = (await sign("cy", "ada")).json() as { readonly signature: string; readonly public_key: string };
    const [key, signature] = [signed.public_key, signed.signature].map((text) => new Uint8Array(Buffer.from(text, "base64")));
    const bytes = new TextEncoder().encode("release 7");
    expect(nobleCrypto.ed25519Verify(key as Uint8Array, bytes, signature as Uint8Array)).toBe(true);
    expect((await sign("bob")).code).not.toBe(0);
    const handed = await readFile(join(cwd, "t"), "utf8");
    for (const name of custodians)
      expect(handed).not.toContain((JSON.parse(await readFile(join(cwd, `${name}.share`), "utf8")) as { data: string }).data);
  });

  test("a stranger verifies it from the file alone, with whom to expect or without; a changed byte is named by its entry", async () => {
    const cards = all.map((name) => `${name}.card`);
    const report = (await verify("--card", ...cards)).json();
    expect(report).toMatchObject({ valid: true, status: "active", witness: { custodianId: "wim", confirmed: true } });
    const stranger = await verify("--card", ...cards.slice(1));
    expect([stranger.code, stranger.json()]).toMatchObject([1, { valid: false, refused: { entry: 0, reason: "unknown_card" } }]);

    const lines = (await readFile(join(cwd, "t"), "utf8")).split("\n");
    lines[4] = (lines[4] as string).replace(/"at":\d/, '"at":9');
    await writeFile(join(cwd, "t"), lines.join("\n"));
    const changed = await verify();
    expect([changed.code, changed.json()]).toMatchObject([1, { valid: false, refused: { entry: 4 } }]);
    expect((await act("ada", "--join")).errors).toContain("t is no transcript: entry 4");
  });
});
