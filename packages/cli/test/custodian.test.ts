import { spawn } from "node:child_process";
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { canonicalJson, nobleCrypto } from "@seneschal/crypto";
import {
  CustodianKeys,
  custodianCard,
  encodeTranscript,
  openKeyFile,
  prfSeal,
  sealKeyFile,
  signEntry,
  tokenSeal,
  verifyTranscript,
} from "@seneschal/crypto/custody";
import { Share } from "@seneschal/crypto/threshold";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sourceOptions } from "../../../tools/source-options.ts";
import { turnEnds } from "../src/commands/custodian.ts";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

/** The commands of docs/custody.md, as they are typed there. */
const page = await readFile(new URL("../../../docs/custody.md", import.meta.url), "utf8");
const [, section = ""] = page.split("## A ceremony without a server");
const typed = [...section.matchAll(/^seneschal (.*)$/gm)].map(([, line]) => (line ?? "").split(" "));
const [NEW = [], CARD = [], START = [], JOIN = [], TURN = [], CONFIRM = [], WITNESS = [], SHARE = [], VERIFY = [], SIGN = []] =
  typed;
type Line = readonly string[];
/** One of them, typed by somebody else, or with another hash. */
const by = (line: Line, name: string, hash = "HASH"): Line =>
  line.map((word, i) => (line[i - 1] === "--card" ? word : word.replace(/^ada(?=\.|$)/, name)).replace("HASH", hash));

const phraseOf = (name: string): string => `the keys of ${name}`;
const custodians = ["ada", "bob", "cy"] as const;
const all = [...custodians, "wim", "sue"];

test("the page says what a turn ends with, for every outcome that there is", () => {
  const told = new Map<string, number>();
  for (const [, code = "", outcomes = ""] of section.matchAll(/^\| ([01]) \| (.*) \|$/gm))
    for (const [, outcome = ""] of outcomes.replaceAll(/\([^)]*\)/g, "").matchAll(/`([a-z_]+)`/g))
      told.set(outcome, Number(code));
  expect(Object.fromEntries(told)).toEqual({ ...turnEnds });
});

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
  const act = (line: Line, name: string, hash?: string) => call(by(line, name, hash), phraseOf(name));
  const path = (): string => join(cwd, "ceremony");

  test("keys are made on one's own machine, and the card tells them without the passphrase", async () => {
    const differing = await call(by(NEW, "ada"), phraseOf("ada"), phraseOf("bob"));
    expect([differing.code, differing.errors]).toEqual([2, expect.stringContaining("differ")]);
    const weak = await call(by(NEW, "ada"), "battery", "battery");
    expect([weak.code, weak.errors]).toEqual([2, expect.stringContaining("at least 12 characters, 5 of them different")]);
    expect(await readdir(cwd)).toEqual([]);
    for (const name of all) {
      const made = await call(by(NEW, name), phraseOf(name), phraseOf(name));
      expect(made.code, made.errors).toBe(0);
      const card = await call(by(CARD, name));
      expect(card.json()).toMatchObject({ card: { custodian_id: name }, fingerprint: made.json()["fingerprint"] });
      expect((await stat(join(cwd, `${name}.keys`))).mode & 0o077).toBe(0);
    }
    // A card that was compared is not put in another's place.
    const own = await readFile(join(cwd, "ada.card"), "utf8");
    expect(own).toBe(`${canonicalJson(JSON.parse(own))}\n`);
    expect((await call(["custodian", "card", "bob.keys", "--out", "ada.card"])).errors).toContain("ada.card exists already");
    expect((await call(by(CARD, "ada"))).code).toBe(0);
    expect(await readFile(join(cwd, "ada.card"), "utf8")).toBe(own);
  });

  test("a start names people by their cards: one person has one seat, and the witness none", async () => {
    const start = (change: (line: string) => string) => call(change(START.join(" ")).split(" "), phraseOf("sue"));
    const twice = await start((line) => line.replace("cy.card", "ada.card"));
    expect(twice.errors).toContain("cannot hold a ceremony: seat 1 and seat 3 are one person");
    const seated = await start((line) => line.replace("wim.card", "cy.card"));
    expect(seated.errors).toContain("cannot hold a ceremony: seat 3 and the witness are one person");
    expect(await readdir(cwd)).not.toContain("ceremony");
    expect((await start((line) => line)).json()).toMatchObject({ ceremony: expect.any(String) });
    expect((await start((line) => line)).errors).toContain("ceremony exists already");
    const open = await call(VERIFY);
    expect([open.code, open.json()]).toMatchObject([1, { valid: true, status: "open", threshold: 2 }]);
    expect((await call(VERIFY.slice(0, 3))).code).toBe(0);
    expect(await readdir(cwd)).not.toContain("ceremony.crk");
  });

  test("who has not agreed has no seat, nor who does not know the passphrase, nor among strangers; the transcript stays as it was", async () => {
    const before = await readFile(path());
    const { errors } = await act(TURN, "ada");
    expect(errors).toContain("threshold 2 of 3, until ");
    for (const name of all) {
      const { fingerprint } = (await call(by(CARD.slice(0, 3), name))).json() as { readonly fingerprint: string };
      expect(errors).toContain(fingerprint);
    }
    const stranger = await call(JOIN, phraseOf("somebody else"));
    expect([stranger.code, stranger.errors]).toEqual([2, expect.stringContaining("ada.keys does not open")]);
    const among = await call(
      JOIN.filter((word) => word !== "bob.card"),
      phraseOf("ada"),
    );
    expect([among.code, among.errors]).toEqual([2, expect.stringContaining("unknown_card")]);
    expect(await readFile(path())).toEqual(before);
    expect(await readdir(cwd)).not.toContain("ada.state");
  });

  test("the key is active when each has compared and confirmed one hash, and the witness too; the shares sign, and no file held another's", async () => {
    const listing = scriptedHost({ cwd, secrets: [phraseOf("ada")] });
    expect(await run(by(JOIN, "ada"), listing)).toBe(0);
    const listed = listing.lines.join("\n");
    expect(listed).toMatch(/^generate, threshold 2 of 3, until .*Z\nseat 1: [0-9a-f]{64} "ada" of "acme"\n/);
    expect(listed).toMatch(/act: join\nact: commitment\nthe key is not active yet; to act: seat 2, seat 3$/);
    for (const name of ["bob", "cy"]) expect((await act(JOIN, name)).json()).toMatchObject({ acts: ["join", "commitment"] });
    const [own, others] = await Promise.all(["ada", "bob"].map((name) => readFile(join(cwd, `${name}.state`))));
    await writeFile(join(cwd, "ada.state"), others as Buffer);
    expect((await act(TURN, "ada")).errors).toContain("ada.state is the state of another ceremony");
    await rm(join(cwd, "ada.state"));
    expect((await act(JOIN, "ada")).errors).toContain("seat 1 is taken, and its state is not at ada.state");
    await writeFile(join(cwd, "ada.state"), own as Buffer);
    for (const name of custodians) expect((await act(TURN, name)).json()).toMatchObject({ acts: ["packages"] });
    for (const name of custodians) expect((await act(TURN, name)).json()).toMatchObject({ acts: ["accepted"] });
    const { transcript } = (await act(TURN, "ada")).json() as { readonly transcript: string };
    for (const [line, name] of [
      [CONFIRM, "ada"],
      [WITNESS, "wim"],
    ] as const) {
      const other = await act(line, name, Buffer.alloc(32).toString("base64"));
      expect([other.code, other.json()]).toMatchObject([1, { outcome: "other_hash", acts: [], transcript }]);
    }
    const open = await readFile(path());
    expect((await act(WITNESS, "wim", transcript)).json()).toMatchObject({
      acts: ["witness"],
      outcome: "waiting",
      awaited: { seats: [1, 2, 3], witness: false },
    });
    await writeFile(path(), open);
    const early = await act(SHARE, "ada");
    expect(early.json()).toMatchObject({ outcome: "confirm", acts: [], share: null });
    expect(await readdir(cwd)).not.toContain("ada.share");
    for (const [name, awaited] of [
      ["ada", [2, 3]],
      ["bob", [3]],
      ["cy", []],
    ] as const) {
      const confirmed = await act(CONFIRM, name, transcript);
      expect(confirmed.json()).toMatchObject({
        acts: ["confirmation"],
        outcome: "waiting",
        awaited: { seats: awaited, witness: true },
      });
      expect((await call(VERIFY)).json()).toMatchObject({ status: "open" });
    }
    expect((await act(WITNESS, "wim", transcript)).json()).toMatchObject({ acts: ["witness"], outcome: "witnessed" });

    expect((await act(TURN, "ada")).errors).toContain("--share");
    for (const name of custodians) {
      expect((await act(SHARE, name)).json()).toMatchObject({ outcome: "active" });
      expect((await stat(join(cwd, `${name}.share`))).mode & 0o077).toBe(0);
    }
    expect((await readdir(cwd)).filter((name) => /\.state|\.[0-9a-f]{12}$/.test(name))).toEqual([]);
    expect((await act(TURN, "ada")).errors).toContain("the ceremony is active");

    expect((await call(VERIFY)).code).toBe(0);
    const signed = (await call(SIGN)).json() as { readonly signature: string; readonly public_key: string };
    const bytes = (text: string) => new Uint8Array(Buffer.from(text, "base64"));
    const message = bytes(SIGN.at(-1) ?? "");
    expect(nobleCrypto.ed25519Verify(bytes(signed.public_key), message, bytes(signed.signature))).toBe(true);
    expect((await call(SIGN.filter((word) => word !== "cy.share"))).code).not.toBe(0);
    const handed = await readFile(path());
    for (const name of custodians) {
      const { data } = JSON.parse(await readFile(join(cwd, `${name}.share`), "utf8")) as { readonly data: string };
      const secret = Share.decode(data).payload();
      for (const form of ["latin1", "hex", "base64"] as const)
        expect(handed.toString("latin1")).not.toContain(Buffer.from(secret).toString(form));
    }
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
    expect((await act(JOIN, "ada")).errors).toContain("ceremony does not hold from entry 4 on");
  });

  test("who sends a package that does not hold is named, to who complains and to whoever comes after; their states go", async () => {
    await rm(path());
    expect((await call(START, phraseOf("sue"))).code).toBe(0);
    for (const name of custodians) await act(JOIN, name);
    const { keys } = await openKeyFile(nodeCrypto, await readFile(join(cwd, "bob.keys")), phraseOf("bob"));
    const report = verifyTranscript(nodeCrypto, await readFile(path()));
    if (!report.valid) throw new Error(report.refused.reason);
    const { view } = report;
    const lie = { type: "packages", sealed: [0, 1].map((i) => Buffer.alloc(80, i + 9).toString("base64")) } as const;
    const entry = signEntry(keys, { ceremony: view.ceremony, author: "bob", at: view.start.expires_at - 1 }, lie, view);
    await appendFile(path(), encodeTranscript([entry]));
    await act(TURN, "ada");
    const complained = await act(TURN, "ada");
    const blame = { seat: 2, reason: "package" };
    expect([complained.code, complained.json()]).toMatchObject([1, { acts: ["complaint"], outcome: "failed", blame }]);
    for (const name of ["ada", "cy"]) {
      const after = await act(TURN, name);
      expect([after.code, after.json()]).toMatchObject([1, { acts: [], outcome: "failed", blame }]);
    }
    expect((await readdir(cwd)).filter((name) => name.endsWith(".state"))).toEqual(["bob.state"]);
  });

  test("the key is handed on to other people by who holds shares of it, and a lost share is given back", async () => {
    // Keys as `custodian new` makes them, sealed at the least cost that a reader takes.
    const cheaply = async (name: string, keys: CustodianKeys, card: ReturnType<typeof custodianCard>) => {
      const cost = { time: 2, memoryKiB: 19_456, parallelism: 1 };
      await writeFile(
        join(cwd, `${name}.keys`),
        await sealKeyFile(nodeCrypto, { keys, card }, phraseOf(name), systemRandom, cost),
      );
    };
    for (const name of all) {
      const { keys, card } = await openKeyFile(nodeCrypto, await readFile(join(cwd, `${name}.keys`)), phraseOf(name));
      await cheaply(name, keys, card);
    }
    for (const name of ["dan", "fay"]) {
      const keys = CustodianKeys.generate(nodeCrypto, systemRandom);
      const card = custodianCard(nodeCrypto, keys, { orgId: "acme", custodianId: name }, systemRandom);
      await cheaply(name, keys, card);
      await writeFile(join(cwd, `${name}.card`), JSON.stringify(card));
    }
    const [, HANDOVER = [], DEAL = [], TAKE = [], REPAIR = []] = typed.slice(typed.indexOf(SIGN));
    const key = JSON.parse(await readFile(join(cwd, "ceremony.crk"), "utf8"));
    /** Turns of everybody until nobody has anything to say, then confirmations; the lines are those of the page for somebody else. */
    const held = async (file: string, givers: readonly string[], takers: readonly string[]) => {
      const all = [...new Set([...takers, ...givers])];
      const turn = (name: string, ...more: readonly string[]) => {
        const line = (givers.includes(name) ? DEAL : TAKE).map((word) =>
          word
            .replace("handover", file)
            .replace(/^(ada|dan)(?=\.)/, name)
            .replace(/\.state$/, `.${file}-state`),
        );
        return call([...line.filter((word) => word !== "--join"), ...more], phraseOf(name));
      };
      for (const name of all) {
        const joined = await turn(name, "--join");
        expect(joined.code, joined.errors).toBe(0);
      }
      for (let acts = 1; acts > 0; ) {
        acts = 0;
        for (const name of all) acts += ((await turn(name)).json() as { readonly acts: readonly string[] }).acts.length;
      }
      const { transcript } = (await turn(takers[0] ?? "")).json() as { readonly transcript: string };
      const [last = "", ...others] = [...takers].reverse();
      for (const name of others)
        expect((await turn(name, "--confirm", transcript)).json()).toMatchObject({ acts: ["confirmation"], outcome: "waiting" });
      const witness = by(WITNESS, "wim", transcript).slice(0, WITNESS.indexOf("--card"));
      const line = [...witness.map((word) => word.replace(/^ceremony$/, file)), "--confirm", transcript];
      const witnessed = await call(line, phraseOf("wim"));
      const seat = takers.indexOf(last) + 1;
      expect(witnessed.json()).toMatchObject({
        acts: ["witness"],
        outcome: "waiting",
        awaited: { seats: [seat], witness: false },
      });
      // Whoever confirms last makes the key active, and has the share at once where it was said where it goes.
      const share = (name: string) => ["--share", `${name}.${file}`];
      const at = file === "repair" ? [] : share(last);
      expect((await turn(last, "--confirm", transcript, ...at)).json()).toMatchObject({
        acts: ["confirmation"],
        outcome: at.length > 0 ? "active" : "completes",
      });
      for (const name of all.filter((one) => !takers.includes(one))) {
        expect((await turn(name)).json()).toMatchObject({ outcome: "dealt" });
      }
      for (const name of at.length > 0 ? others : takers)
        expect((await turn(name, ...share(name))).json()).toMatchObject({ outcome: "active" });
    };
    const start = (line: Line, change: (line: string) => string = (same) => same) =>
      call(change(line.join(" ").replace("eve.card", "fay.card")).split(" "), phraseOf("sue"));

    const lost = await readFile(join(cwd, "bob.share"), "utf8");
    expect((await start(REPAIR, (line) => line.replace("--lost 2", "--lost 3"))).errors).toContain(
      "cannot hold a ceremony: seat 3 deals with the share of index 3, which is lost",
    );
    expect((await start(REPAIR, (line) => line.replace(" --lost 2", ""))).errors).toContain("a repair needs --lost");
    expect((await start(REPAIR)).code).toBe(0);
    await held("repair", ["ada", "cy"], ["bob"]);
    expect(await readFile(join(cwd, "bob.repair"), "utf8")).toBe(lost);

    expect((await start(HANDOVER, (line) => line.replace("1=ada.card", "ada.card"))).errors).toContain("is not an index");
    expect((await start(HANDOVER, (line) => line.replace(" --crk ceremony.crk", ""))).errors).toContain("a reshare needs --crk");
    expect((await start(HANDOVER)).code).toBe(0);
    const terms = await call(
      DEAL.filter((word) => word !== "--join"),
      phraseOf("ada"),
    );
    expect(terms.errors).toContain("deals with the share of index 1, is given the share of index 2");
    expect(
      (
        await call(
          DEAL.filter((word) => !/held|share/.test(word)),
          phraseOf("ada"),
        )
      ).errors,
    ).toContain("a reshare needs --held");
    const foreign = await call(
      DEAL.map((word) => word.replace("ada.share", "bob.share")),
      phraseOf("ada"),
    );
    expect(foreign.code).not.toBe(0);
    await held("handover", ["ada", "cy"], ["dan", "ada", "fay"]);
    expect((await readdir(cwd)).filter((name) => /-state$/.test(name))).toEqual([]);

    const verify = await call([...VERIFY.slice(0, 2), "handover", "--active", "--crk", "handover.crk"]);
    expect(verify.json()).toMatchObject({ kind: "reshare", status: "active", threshold: 2, crk: { public_key: key.public_key } });
    const sign = (crk: string, ...shares: readonly string[]) =>
      call(["sign", "--crk", crk, "--share", ...shares, "--message", "eA=="]);
    expect((await sign("handover.crk", "dan.handover", "fay.handover")).json()).toMatchObject({ public_key: key.public_key });
    expect((await sign("handover.crk", "dan.handover", "cy.share")).code, "a share of before").not.toBe(0);
  });

  test("a key file is sealed anew by another passphrase, or stays as it is; its keys and what they sealed stay", async () => {
    const before = await readFile(join(cwd, "ada.keys"));
    const reseal = (...secrets: readonly string[]) => call(["custodian", "reseal", "ada.keys"], ...secrets);
    for (const secrets of [
      [phraseOf("somebody else"), phraseOf("ada, again"), phraseOf("ada, again")],
      [phraseOf("ada"), "battery", "battery"],
      [phraseOf("ada"), phraseOf("ada, again"), phraseOf("bob, again")],
    ]) {
      expect((await reseal(...secrets)).code).toBe(2);
      expect(await readFile(join(cwd, "ada.keys"))).toEqual(before);
    }
    const { fingerprint } = (await call(by(CARD.slice(0, 3), "ada"))).json();
    const sealed = await reseal(phraseOf("ada"), phraseOf("ada, again"), phraseOf("ada, again"));
    expect([sealed.code, sealed.json()]).toMatchObject([0, { fingerprint, sealed_by: "argon2id" }]);
    expect((await stat(join(cwd, "ada.keys"))).mode & 0o077).toBe(0);
    const after = await readFile(join(cwd, "ada.keys"));
    await expect(openKeyFile(nodeCrypto, after, phraseOf("ada"))).rejects.toMatchObject({ code: "decryption_failed" });
    const { keys } = await openKeyFile(nodeCrypto, before, phraseOf("ada"));
    const again = await openKeyFile(nodeCrypto, after, phraseOf("ada, again"));
    expect(again.keys.openOwn("state", keys.sealOwn("state", Buffer.from("kept"), systemRandom))).toEqual(
      new Uint8Array(Buffer.from("kept")),
    );
  });

  test("a key file that a device seals shows its card, and says what it needs to be opened", async () => {
    const keys = CustodianKeys.generate(nodeCrypto, systemRandom);
    const card = custodianCard(nodeCrypto, keys, { orgId: "acme", custodianId: "gil" }, systemRandom);
    const answer = systemRandom(32);
    for (const [seal, needs] of [
      [tokenSeal(nodeCrypto, { token: "gil", key: "custody" }, systemRandom), "sealed by the token gil: --pkcs11"],
      [prfSeal({ rpId: "custody.example", credentialId: systemRandom(32) }, systemRandom), "only a page of that domain opens it"],
    ] as const) {
      await writeFile(join(cwd, "gil.keys"), await sealKeyFile(nodeCrypto, { keys, card }, { seal, answer }, systemRandom));
      expect((await call(by(CARD.slice(0, 3), "gil"))).json()).toMatchObject({ card });
      const refused = await call(["custodian", "reseal", "gil.keys"], "1234", "1234");
      expect([refused.code, refused.errors]).toEqual([2, expect.stringContaining(needs)]);
    }
    const token = ["--pkcs11", "/none.so", "--pkcs11-token", "gil", "--pkcs11-key", "custody"];
    const made = (...options: readonly string[]) => call([...by(NEW, "hal"), ...options], "1234");
    for (const part of [token.slice(0, 2), token.slice(0, 4), token.slice(2)])
      expect(await made(...part)).toMatchObject({ code: 2, errors: expect.stringContaining("--pkcs11-key") });
    expect((await call([...by(NEW, "hal"), ...token])).errors).toContain("the PIN is empty");
    expect((await made(...token)).errors).toContain('npm install \\"pkcs11js@');
    expect(await readdir(cwd)).not.toContain("hal.keys");
  });

  test("a passphrase may come from a pipe that stays open, both times", async () => {
    const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
    const child = spawn(process.execPath, [...sourceOptions, main, ...by(NEW, "eve")], {
      cwd,
      stdio: ["pipe", "ignore", "inherit"],
    });
    child.stdin.write(`${phraseOf("eve")}\n${phraseOf("eve")}\n`);
    expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
    expect((await openKeyFile(nodeCrypto, await readFile(join(cwd, "eve.keys")), phraseOf("eve"))).card.custodian_id).toBe("eve");
  });
});
