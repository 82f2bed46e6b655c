import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { CustodianKeys, custodianCard, sealKeyFile } from "@seneschal/crypto/custody";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { type DevProcess, openDevProcess } from "./dev-process.ts";
import { scriptedHost } from "./scripted-host.ts";

/** The commands of docs/custody.md for a ceremony by the gateway, as they are typed there. */
const page = await readFile(new URL("../../../docs/custody.md", import.meta.url), "utf8");
const [, section = ""] = page.split("## A ceremony by the gateway");
const typed = [...section.matchAll(/^seneschal (.*)$/gm)].map(([, line]) => line ?? "");
const [NEW = "", ENROLL = "", FIRST = "", SECOND = "", START = "", JOIN = "", TURN = "", CONFIRM = "", WITNESS = ""] = typed;
const [SHARE = "", TRANSCRIPT = "", VERIFY = ""] = typed.slice(9);

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
  beforeAll(async () => {
    dev = await openDevProcess();
  });
  afterAll(() => dev.close());

  const call = async (line: string, ...secrets: string[]) => {
    const host = scriptedHost({ cwd: dev.dir, secrets });
    const code = await run([...line.split(" "), "--credentials", dev.credentials, "--json"], host);
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
        expect(await run("custodian card ada.keys --out ada.card".split(" "), host)).toBe(0);
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
    for (const who of seats) expect(await typedBy(JOIN, who)).toMatchObject({ said: ["join", "commitment"] });
    for (const who of seats) expect(await typedBy(TURN, who)).toMatchObject({ said: ["packages"] });
    // At once: who is not first takes the turn again on what is there then.
    const accepted = await Promise.all(seats.map((who) => typedBy(TURN, who)));
    expect(accepted).toMatchObject(seats.map(() => ({ said: ["accepted"] })));
    const hash = String((await typedBy(TURN, people[0]))["transcript"]);
    const other = by(CONFIRM, people[0]).replace("CEREMONY", ceremony).replace("HASH", Buffer.alloc(32).toString("base64"));
    expect((await call(other, PASSPHRASE)).code).toBe(1);
    for (const who of seats) expect(await typedBy(CONFIRM, who, hash)).toMatchObject({ said: ["confirmation"] });
    expect(await done(WITNESS.replace("CEREMONY", ceremony).replace("HASH", hash), PASSPHRASE)).toMatchObject({
      said: ["witness"],
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
});
