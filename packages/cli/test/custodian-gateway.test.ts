import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ed25519 } from "@noble/curves/ed25519.js";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import {
  CeremonyState,
  CustodianKeys,
  custodianCard,
  openKeyFile,
  sealKeyFile,
  verifyTranscript,
} from "@seneschal/crypto/custody";
import { Share } from "@seneschal/crypto/threshold";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RecordedTraffic, recordTraffic } from "../../../tools/recorded-traffic.ts";
import { secretsIn } from "../../../tools/secrets-in.ts";
import { run } from "../src/run.ts";
import { type DevProcess, openDevProcess } from "./dev-process.ts";
import { scriptedHost } from "./scripted-host.ts";

/** The commands of docs/custody.md for a ceremony by the gateway, as they are typed there. */
const page = await readFile(new URL("../../../docs/custody.md", import.meta.url), "utf8");
const [, section = ""] = page.split("## A ceremony by the gateway");
const typed = [...section.matchAll(/^seneschal (.*)$/gm)].map(([, line]) => line ?? "");
const [NEW = "", CARD = "", ENROLL = "", FIRST = "", SECOND = "", START = "", JOIN = "", TURN = "", CONFIRM = "", WITNESS = ""] =
  typed;
const [SHARE = "", TRANSCRIPT = "", VERIFY = ""] = typed.slice(10);

const PASSPHRASE = "one for all of them";
/** Who is who in `seneschal dev`. Confirmers are two others. */
const people = [
  { name: "ada", role: "security_admin", confirmers: ["super_admin", "operations_admin"] },
  { name: "bob", role: "operations_admin", confirmers: ["super_admin", "security_admin"] },
  { name: "cy", role: "auditor", confirmers: ["super_admin", "security_admin"] },
  { name: "wim", role: "super_admin", confirmers: ["security_admin", "operations_admin"] },
] as const;
const seats = people.slice(0, 3);

describe("custodians hold a ceremony through the gateway, each by commands on their own machine", () => {
  let dev: DevProcess;
  let traffic: RecordedTraffic;
  /** What each seat kept when it had joined, sealed by its keys. */
  const kept = new Map<string, Buffer>();
  beforeAll(async () => {
    dev = await openDevProcess();
    traffic = recordTraffic();
  });
  afterAll(async () => {
    traffic?.stop();
    await dev?.close();
  });

  const call = async (line: string, ...secrets: string[]) => {
    const host = scriptedHost({ cwd: dev.dir, secrets });
    const code = await run(
      [...line.split(" "), ...(line.includes("--as") ? ["--credentials", dev.credentials] : []), "--json"],
      host,
    );
    return { code, json: () => host.json(), said: [...host.lines, ...host.errors].join("\n") };
  };
  /** What one person types, where the page has ada. */
  const by = (line: string, { name, role }: { readonly name: string; readonly role: string }): string =>
    line
      .replace("--keys ada.", `--keys ${name}.`)
      .replace("--state ada.", `--state ${name}.`)
      .replace("--share ada.", `--share ${name}.`)
      .replace("enroll ada.", `enroll ${name}.`)
      .replace("acme/security_admin", `acme/${role}`);
  const done = async (line: string, ...secrets: string[]) => {
    const answer = await call(line, ...secrets);
    expect(answer.code, `${line}: ${answer.said}`).toBe(0);
    return answer.json();
  };

  test("every command of the page, in its order: enrolled, confirmed by two, held, witnessed, verified", async () => {
    const { admins } = dev.running.credentials.organizations["acme"] as { admins: Record<string, { readonly id: string }> };
    for (const { name, role } of people) {
      const id = admins[role]?.id ?? "";
      if (name === "ada") {
        const host = scriptedHost({ cwd: dev.dir, secrets: [PASSPHRASE, PASSPHRASE] });
        expect(await run(NEW.replace("ID", id).split(" "), host)).toBe(0);
        expect(await run(CARD.split(" "), host)).toBe(0);
        continue;
      }
      // What `custodian new` makes, at the least cost that a reader takes.
      const keys = CustodianKeys.generate(nodeCrypto, systemRandom);
      const card = custodianCard(nodeCrypto, keys, { orgId: "acme", custodianId: id }, systemRandom);
      const cheap = { time: 2, memoryKiB: 19_456, parallelism: 1 };
      await writeFile(
        join(dev.dir, `${name}.keys`),
        await sealKeyFile(nodeCrypto, { keys, card }, PASSPHRASE, systemRandom, cheap),
      );
      await writeFile(join(dev.dir, `${name}.card`), JSON.stringify(card));
    }
    expect((await call(START.replace("ada.card bob.card", "bob.card ada.card"), PASSPHRASE)).said).toContain(
      "confirmed custodian",
    );

    for (const person of people) {
      const { id, fingerprint, status } = await done(by(ENROLL, person));
      expect(status).toBe("pending");
      for (const [i, role] of person.confirmers.entries()) {
        const line = (i === 0 ? FIRST : SECOND).replace(/acme\/.*/, `acme/${role}`).replace("ENROLLMENT", String(id));
        expect(await done(line.replace("FINGERPRINT", String(fingerprint)))).toMatchObject({
          status: i === 0 ? "pending" : "active",
        });
      }
    }

    const ceremony = String((await done(START, PASSPHRASE))["ceremony"]);
    const typedBy = (line: string, who: (typeof people)[number], hash = "") =>
      done(by(line, who).replace("CEREMONY", ceremony).replace("HASH", hash), PASSPHRASE);
    expect((await call(by(TURN, people[0]).replace("CEREMONY", ceremony), PASSPHRASE)).said).toContain("--join");
    for (const who of seats) expect(await typedBy(JOIN, who)).toMatchObject({ acts: ["join", "commitment"] });
    for (const { name } of seats) kept.set(name, await readFile(join(dev.dir, `${name}.state`)));
    for (const who of seats) expect(await typedBy(TURN, who)).toMatchObject({ acts: ["packages"] });
    // At once: who is not first takes the turn again on what is there then.
    const accepted = await Promise.all(seats.map((who) => typedBy(TURN, who)));
    expect(accepted).toMatchObject(seats.map(() => ({ acts: ["accepted"] })));
    const hash = String((await typedBy(TURN, people[0]))["transcript"]);
    const other = by(CONFIRM, people[0]).replace("CEREMONY", ceremony).replace("HASH", Buffer.alloc(32).toString("base64"));
    expect((await call(other, PASSPHRASE)).code).toBe(1);
    for (const who of seats) expect(await typedBy(CONFIRM, who, hash)).toMatchObject({ acts: ["confirmation"] });
    expect(await done(WITNESS.replace("CEREMONY", ceremony).replace("HASH", hash), PASSPHRASE)).toMatchObject({
      acts: ["witness"],
      outcome: "witnessed",
    });
    for (const who of seats) expect(await typedBy(SHARE, who)).toMatchObject({ outcome: "active" });

    const status = await done(`gateway get-custody-ceremony ${ceremony} --as acme/auditor`);
    await done(TRANSCRIPT.replace("CRK", String(status["crk_id"])));
    const host = scriptedHost({ cwd: dev.dir });
    expect(await run([...VERIFY.split(" "), "--crk", "ceremony.crk", "--json"], host)).toBe(0);
    expect(host.json()).toMatchObject({ valid: true, status: "active" });
    const signing = scriptedHost({ cwd: dev.dir });
    const sign = "sign --crk ceremony.crk --share ada.share cy.share --message cmVsZWFzZSA3 --json";
    expect(await run(sign.split(" "), signing)).toBe(0);
    expect(signing.json()).toMatchObject({ public_key: (host.json()["crk"] as { public_key: string }).public_key });
  });

  test("no command sends a passphrase, a private key, what a state keeps, a coefficient or a share, in any form", async () => {
    const report = verifyTranscript(nodeCrypto, await readFile(join(dev.dir, "ceremony")));
    if (!report.valid) throw new Error(report.refused.reason);
    const { view } = report;
    const secrets = new Map<string, Uint8Array>([["the passphrase", Buffer.from(PASSPHRASE)]]);
    const found = new Set<string>();
    /** A secret scalar, by the point that everybody sees of it. */
    const scalar = (name: string, value: bigint): void => {
      secrets.set(name, ed25519.Point.Fn.toBytes(value));
      found.add(Buffer.from(ed25519.Point.BASE.multiply(value).toBytes()).toString("base64"));
    };
    for (const { name } of people) {
      const { keys } = await openKeyFile(nodeCrypto, await readFile(join(dev.dir, `${name}.keys`)), PASSPHRASE);
      const [seed, secret] = [keys.toBytes().slice(0, 32), keys.toBytes().slice(32)];
      secrets.set(`${name}'s seed`, seed).set(`${name}'s secret`, secret);
      scalar(`${name}'s signing scalar`, ed25519.utils.getExtendedPublicKey(seed).scalar);
      const sealed = kept.get(name);
      if (sealed === undefined) continue;
      const state = CeremonyState.fromBytes(keys.openOwn(`ceremony/${view.ceremony}`, sealed));
      const { secret: own } = JSON.parse(Buffer.from(state.toBytes()).toString()) as { readonly secret: string };
      secrets.set(`${name}'s state`, Buffer.from(own, "base64"));
      secrets.set(`${name}'s transport secret`, state.derive(nodeCrypto, "transport-key", state.start)(32));
      const draw = state.derive(nodeCrypto, "polynomial", state.start);
      for (const k of [0, 1]) {
        const drawn = BigInt(`0x${Buffer.from(draw(48)).reverse().toString("hex")}`);
        scalar(`${name}'s coefficient ${k}`, (drawn % (ed25519.Point.Fn.ORDER - 1n)) + 1n);
      }
      const { data } = JSON.parse(await readFile(join(dev.dir, `${name}.share`), "utf8")) as { readonly data: string };
      scalar(`${name}'s share`, BigInt(`0x${Buffer.from(Share.decode(data).payload()).reverse().toString("hex")}`));
      secrets.set(`${name}'s share in its envelope`, Buffer.from(data, "base64"));
    }
    const points = [...view.committed.values()].flatMap(({ commitments }) => commitments);
    const cards = [...view.start.seats, view.start.witness].map((card) => card.signing_key);
    for (const point of [...points, ...cards, ...(report.crk?.verifying_shares ?? [])]) expect(found).toContain(point);
    const recorded = traffic.text();
    expect(traffic.requests).toBeGreaterThan(30);
    for (const point of points) expect(recorded).toContain(point);
    expect(secretsIn(recorded, secrets)).toEqual([]);
  });

  test("what the gateway dealt is verified from its file, and confirmed by a custodian's own keys when the others read the same hash", async () => {
    const [, dealt = ""] = page.split("## What a gateway deals");
    const [GET = "", JUDGE = "", LOOK = "", SAY = ""] = [...dealt.matchAll(/^seneschal (.*)$/gm)].map(([, line]) => line ?? "");
    const { organizations } = JSON.parse(await readFile(dev.credentials, "utf8"));
    const globex = (line: string) => line.replace("acme", "globex").replaceAll("ada.", "hank.");
    await done(globex(NEW).replace("ID", organizations.globex.admins.security_admin.id), PASSPHRASE, PASSPHRASE);
    const { id: enrolment, fingerprint } = await done(globex(ENROLL));
    const officer = "--as globex/super_admin";
    const { id } = await done(`ceremony generate --shares 2 --threshold 2 ${officer}`);
    const roles = ["security_admin", "auditor"];
    for (const [i, role] of roles.entries())
      await done(`ceremony seed ${id} --index ${i + 1} --name c${i} --as globex/${role}`, "a password of one's own");
    for (const role of ["super_admin", "operations_admin"])
      await done(`gateway confirm-custodian ${enrolment} --fingerprint ${fingerprint} --as globex/${role}`);
    const { hash: seats } = await done(`ceremony finish ${id} ${officer}`);
    const finished = await done(`ceremony finish ${id} --seats ${seats} ${officer}`);
    const crk = (finished["crk"] as { id: string }).id;
    const { verifier_key: key } = await done(`gateway audit-checkpoint ${officer}`);
    const typedWith = (line: string, hash = "") =>
      globex(line).replace("CRK", crk).replace("VERIFIER_KEY", String(key)).replace("HASH", hash);
    await done(typedWith(GET));
    const verdict = await call(typedWith(JUDGE));
    expect([verdict.code, verdict.json()]).toMatchObject([
      0,
      { kind: "password", confirmed: [], seats: [{ fingerprint }, { fingerprint: null }] },
    ]);
    const shown = await done(typedWith(LOOK));
    expect(shown).toMatchObject({ confirmed: false, transcript: verdict.json()["transcript"] });
    expect(await done(typedWith(LOOK).replace(crk, String(id)))).toEqual(shown);
    expect((await call(typedWith(SAY, "another"), PASSPHRASE)).code).toBe(1);
    const hash = String(shown["transcript"]);
    expect(await done(typedWith(SAY, hash), PASSPHRASE)).toMatchObject({ confirmed: true, indexes: [1], awaited: [] });
    await done(typedWith(GET).replace("dealt --as", "confirmed --as"));
    expect((await call(typedWith(JUDGE).replace("dealt", "confirmed"))).json()).toMatchObject({ confirmed: [1] });
    expect((await call(`${typedWith(JUDGE).replace("dealt", "confirmed")} --confirmed`)).code).toBe(1);
    expect((await call(typedWith(JUDGE).replace(String(key), "no-key"))).code).toBe(2);
  });
});
