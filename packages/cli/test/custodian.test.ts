import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nobleCrypto } from "@seneschal/crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

/** The commands of docs/custody.md, as they are typed there. */
const page = await readFile(new URL("../../../docs/custody.md", import.meta.url), "utf8");
const typed = [...page.matchAll(/^seneschal (.*)$/gm)].map(([, line]) => (line ?? "").split(" "));
const [NEW = [], CARD = [], START = [], JOIN = [], TURN = [], CONFIRM = [], WITNESS = [], SHARE = [], VERIFY = []] = typed;
type Line = readonly string[];
/** One of them, typed by somebody else, or with another hash. */
const by = (line: Line, name: string, hash = "HASH"): Line =>
  line.map((word) => word.replace(/^ada(?=\.|$)/, name).replace("HASH", hash));

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
  const act = (line: Line, name: string, hash?: string) => call(by(line, name, hash), `of ${name}`);
  const path = (): string => join(cwd, "ceremony");

  test("keys are made on one's own machine, and the card tells them without the passphrase", async () => {
    expect((await call(by(NEW, "ada"), "one", "other")).code).toBe(2);
    expect(await readdir(cwd)).toEqual([]);
    for (const name of all) {
      const made = await call(by(NEW, name), `of ${name}`, `of ${name}`);
      expect(made.code, made.errors).toBe(0);
      const card = await call(by(CARD, name));
      expect(card.json()).toMatchObject({ card: { custodian_id: name }, fingerprint: made.json()["fingerprint"] });
      expect((await stat(join(cwd, `${name}.keys`))).mode & 0o077).toBe(0);
    }
  });

  test("a start names people by their cards: one person has one seat, and the witness none", async () => {
    const start = (change: (line: string) => string) => call(change(START.join(" ")).split(" "), "of sue");
    expect((await start((line) => line.replace("cy.card", "ada.card"))).errors).toContain("cannot hold a ceremony: seats");
    expect((await start((line) => line.replace("wim.card", "cy.card"))).errors).toContain("cannot hold a ceremony: seats");
    expect(await readdir(cwd)).not.toContain("ceremony");
    expect((await start((line) => line)).json()).toMatchObject({ ceremony: expect.any(String) });
    expect((await start((line) => line)).errors).toContain("ceremony exists already");
    expect((await call(VERIFY)).json()).toMatchObject({ valid: true, status: "open" });
  });

  test("who has not agreed has no seat, nor who does not know the passphrase; the transcript stays as it was", async () => {
    const before = await readFile(path());
    expect((await act(TURN, "ada")).errors).toContain("3 seats, threshold 2, witness wim");
    expect((await call(JOIN, "of somebody else")).code).toBe(2);
    expect(await readFile(path())).toEqual(before);
    expect(await readdir(cwd)).not.toContain("ada.state");
  });

  test("the key is active when each has compared and confirmed one hash, and the witness too; the shares sign, and no file held another's", async () => {
    for (const name of custodians) expect((await act(JOIN, name)).json()).toMatchObject({ said: ["join", "commitment"] });
    const [own, others] = await Promise.all(["ada", "bob"].map((name) => readFile(join(cwd, `${name}.state`))));
    expect(String(own)).not.toContain("secret");
    await writeFile(join(cwd, "ada.state"), others as Buffer);
    expect((await act(TURN, "ada")).errors).toContain("decryption_failed");
    await writeFile(join(cwd, "ada.state"), own as Buffer);
    for (const name of custodians) expect((await act(TURN, name)).json()).toMatchObject({ said: ["packages"] });
    for (const name of custodians) expect((await act(TURN, name)).json()).toMatchObject({ said: ["accepted"] });
    const { transcript } = (await act(TURN, "ada")).json() as { readonly transcript: string };
    expect((await act(CONFIRM, "ada", Buffer.alloc(32).toString("base64"))).json()).toMatchObject({ said: [] });
    for (const name of custodians) {
      expect((await act(CONFIRM, name, transcript)).json()).toMatchObject({ said: ["confirmation"] });
      expect((await call(VERIFY)).json()).toMatchObject({ status: "open" });
    }
    expect((await act(WITNESS, "wim")).json()).toMatchObject({ said: [], transcript });
    expect((await act(WITNESS, "wim", transcript)).json()).toMatchObject({ said: ["witness"] });

    expect((await act(TURN, "ada")).errors).toContain("--share");
    for (const name of custodians) {
      const done = await act(SHARE, name);
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
    const handed = await readFile(path(), "utf8");
    for (const name of custodians)
      expect(handed).not.toContain((JSON.parse(await readFile(join(cwd, `${name}.share`), "utf8")) as { data: string }).data);
  });

  test("a stranger verifies it from the file alone, with whom to expect or without; a changed byte is named by its entry", async () => {
    const report = (await call(VERIFY)).json();
    expect(report).toMatchObject({ valid: true, status: "active", witness: { custodianId: "wim", confirmed: true } });
    expect((await call(VERIFY.slice(0, 3))).json()).toEqual(report);
    const stranger = await call(VERIFY.filter((word) => word !== "bob.card"));
    expect([stranger.code, stranger.json()]).toMatchObject([1, { valid: false, refused: { entry: 0, reason: "unknown_card" } }]);

    const lines = (await readFile(path(), "utf8")).split("\n");
    lines[4] = (lines[4] as string).replace(/"at":\d/, '"at":9');
    await writeFile(path(), lines.join("\n"));
    const changed = await call(VERIFY);
    expect([changed.code, changed.json()]).toMatchObject([1, { valid: false, refused: { entry: 4 } }]);
    expect((await act(JOIN, "ada")).errors).toContain("ceremony is no transcript: entry 4");
  });
});
