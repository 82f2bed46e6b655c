import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import {
  CustodianKeys,
  ceremonyStep,
  custodianCard,
  encodeTranscript,
  openKeyFile,
  readCard,
  type StartAct,
  sealKeyFile,
  signEntry,
  type TranscriptView,
  takeSeat,
  tokenSeal,
  verifyTranscript,
} from "@seneschal/crypto/custody";
import { type CrkPublic, crkToJson, dealCrk, Share } from "@seneschal/crypto/threshold";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { run } from "../../src/run.ts";
import { openDevProcess } from "../dev-process.ts";
import { scriptedHost } from "../scripted-host.ts";

const python = spawnSync("python3", ["-c", "from cryptography.hazmat.primitives import hpke"]).status === 0;
if (!python) console.warn("no python3 with cryptography 48: no custodian takes part from outside");

const PROGRAM = fileURLToPath(new URL("../../../../examples/custodian.py", import.meta.url));

type Terms =
  | { readonly kind: "generate"; readonly threshold: number }
  | { readonly kind: "refresh"; readonly crk: ReturnType<typeof crkToJson> };

describe.skipIf(!python)("a custodian with a program of its own", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "outside-"));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  const outside = (args: readonly string[], env: Record<string, string> = {}) =>
    new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
      const child = spawn("python3", [PROGRAM, ...args], {
        cwd: dir,
        env: { ...process.env, PASSPHRASE: "correct horse", ...env },
      });
      let [out, err] = ["", ""];
      child.stdout.on("data", (data) => {
        out += data;
      });
      child.stderr.on("data", (data) => {
        err += data;
      });
      child.on("close", (code) => resolve({ code, out, err }));
    });
  const done = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await outside(args);
    expect([code, err]).toEqual([0, args[0] === "card" ? expect.any(String) : ""]);
    return out;
  };
  /** Keys that the program made, and their card as we read it. */
  const madeOutside = async (name: string) => {
    await done("new", "acme", name, `${name}.keys`);
    const text = await done("card", `${name}.keys`);
    await writeFile(join(dir, `${name}.card`), text);
    return readCard(nodeCrypto, JSON.parse(text));
  };
  const person = (id: string) => {
    const keys = CustodianKeys.generate(nodeCrypto, systemRandom);
    return { id, keys, card: custodianCard(nodeCrypto, keys, { orgId: "acme", custodianId: id }, systemRandom) };
  };
  const now = (): number => Math.floor(Date.now() / 1000);

  let people: {
    ada: ReturnType<typeof person>;
    cy: ReturnType<typeof person>;
    py: ReturnType<typeof readCard>;
    wim: ReturnType<typeof readCard>;
  };
  beforeEach(async () => {
    people = { ada: person("ada"), cy: person("cy"), py: await madeOutside("py"), wim: await madeOutside("wim") };
  });

  /** A ceremony's file, its first entry in it: two seats of ours and one outside, witnessed outside. */
  const started = async (file: string, terms: Terms) => {
    const { ada, cy, py, wim } = people;
    const start = {
      ...({ type: "start", ...terms, seats: [ada.card, py, cy.card], witness: wim, starter: ada.card } as const),
      expires_at: now() + 3600,
    } satisfies StartAct;
    const path = join(dir, file);
    await writeFile(path, encodeTranscript([signEntry(ada.keys, { ceremony: file, author: "ada", at: now() }, start)]));
    const view = async (): Promise<TranscriptView> => {
      const report = verifyTranscript(nodeCrypto, await readFile(path));
      if (!report.valid) throw new Error(JSON.stringify(report.refused));
      return report.view;
    };
    const first = await view();
    const states = new Map([ada, cy].map((seat) => [seat.id, takeSeat(first, seat.keys, systemRandom)]));
    const step = async ({ id, keys }: typeof ada, confirm?: string, shares?: ReadonlyMap<number, Share>) => {
      const state = states.get(id) as ReturnType<typeof takeSeat>;
      const share = shares?.get(state.seat);
      const more = { ...(confirm === undefined ? {} : { confirm }), ...(share === undefined ? {} : { share }) };
      const done = ceremonyStep(nodeCrypto, { keys, state, view: await view(), at: now(), ...more });
      states.set(id, done.state);
      return done;
    };
    return { path, view, step };
  };

  /** What a ceremony comes to: the key, and everybody's share. */
  const held = async (file: string, renewed?: { readonly crk: CrkPublic; readonly shares: ReadonlyMap<number, Share> }) => {
    const { ada, cy } = people;
    const terms: Terms =
      renewed === undefined ? { kind: "generate", threshold: 2 } : { kind: "refresh", crk: crkToJson(renewed.crk) };
    const { path, view, step } = await started(file, terms);
    const turn = async (seat: typeof ada, confirm?: string) => {
      const { entries, outcome } = await step(seat, confirm, renewed?.shares);
      await appendFile(path, encodeTranscript(entries));
      return outcome;
    };
    for (const { id, card } of [ada, cy]) await writeFile(join(dir, `${id}.card`), JSON.stringify(card));
    const cards = ["--card", ...["ada", "cy", "py", "wim"].map((id) => `${id}.card`)];
    const old = renewed === undefined ? [] : ["--held", "py.share"];
    const act = (...more: readonly string[]) => outside(["act", file, "py.keys", "py.state", ...cards, ...old, ...more]);
    expect((await act()).err, "terms are shown before a seat is taken").toContain("add --join");
    for (let round = 0; round < 4; round++) {
      await turn(ada);
      expect(await act("--join")).toMatchObject({ code: 0, err: "" });
      await turn(cy);
    }
    const { transcript = "" } = await view();
    expect(await act("--confirm", "of another")).toMatchObject({ code: 1, err: expect.stringContaining("NOT THE TRANSCRIPT") });
    expect(await act("--confirm", transcript)).toMatchObject({ code: 0, out: expect.stringContaining("act: confirmation") });
    const witness = await outside(["act", file, "wim.keys", "none", "--confirm", transcript]);
    expect(witness).toMatchObject({ code: 0, out: expect.stringContaining("act: witness") });
    const outcomes = [];
    for (const seat of [ada, cy]) await turn(seat, transcript);
    for (const seat of [ada, cy]) outcomes.push(await turn(seat));
    const name = renewed === undefined ? "py.share" : "py.renewed";
    expect(await act("--share", name)).toMatchObject({ code: 0, out: expect.stringContaining('"active"') });
    const ours = outcomes.map((outcome) => {
      if (outcome.kind !== "active") throw new Error(outcome.kind);
      return outcome;
    });
    const { data } = JSON.parse(await readFile(join(dir, name), "utf8"));
    const shares = new Map([...ours.map(({ share }) => [share.index, share] as const), [2, Share.decode(data)] as const]);
    return { crk: (ours[0] as (typeof ours)[0]).crk, shares };
  };
  /** Whether a custodian of ours and the one outside sign together, by the command. */
  const signed = async ({ crk, shares }: { crk: CrkPublic; shares: ReadonlyMap<number, Share> }, indexes: readonly number[]) => {
    await writeFile(join(dir, "crk"), JSON.stringify(crkToJson(crk)));
    for (const index of indexes) {
      const data = (shares.get(index) as Share).encode();
      await writeFile(join(dir, `${index}.json`), JSON.stringify({ index, data }));
    }
    const host = scriptedHost({ cwd: dir });
    const files = indexes.map((index) => `${index}.json`);
    const code = await run(["sign", "--crk", "crk", "--share", ...files, "--message", "cmVsZWFzZSA3", "--json"], host);
    return [code, host.lines.join()] as const;
  };

  it("takes a seat in a generation and in a refresh, is their witness, and its shares sign with ours", async () => {
    const made = await held("generation");
    expect((await signed(made, [1, 2]))[0]).toBe(0);
    expect((await signed(made, [2, 3]))[0]).toBe(0);
    const renewed = await held("refresh", made);
    expect(renewed.crk.publicKey).toEqual(made.crk.publicKey);
    expect((await signed(renewed, [2, 3]))[0]).toBe(0);
    const mixed = new Map([...renewed.shares, [2, made.shares.get(2) as Share] as const]);
    expect((await signed({ ...renewed, shares: mixed }, [2, 3]))[0], "an old share with a new one").not.toBe(0);
  });

  it("hands its share on, is given one, helps to repair another's, and has its own repaired, beside clients of ours", async () => {
    const { ada, cy, py, wim } = people;
    const sue = person("sue");
    const { crk, shares } = dealCrk({ threshold: 2, total: 3, random: systemRandom });
    await writeFile(join(dir, "held"), JSON.stringify({ index: 2, data: (shares[1] as Share).encode() }));
    /** A ceremony with one seat outside: what our clients and the program are given. */
    const held = async (
      file: string,
      {
        seats,
        ...terms
      }: {
        readonly seats: readonly (typeof ada | undefined)[];
        readonly deals: readonly number[];
        readonly kind: string;
        readonly [term: string]: unknown;
      },
    ) => {
      const start = {
        type: "start",
        crk: crkToJson(crk),
        ...terms,
        seats: seats.map((who) => who?.card ?? py),
        witness: wim,
        starter: sue.card,
        expires_at: now() + 3600,
      };
      const path = join(dir, file);
      const first = signEntry(sue.keys, { ceremony: file, author: "sue", at: now() }, start as unknown as StartAct);
      await writeFile(path, encodeTranscript([first]));
      const view = async (): Promise<TranscriptView> => {
        const report = verifyTranscript(nodeCrypto, await readFile(path));
        if (!report.valid) throw new Error(JSON.stringify(report.refused));
        return report.view;
      };
      const opened = await view();
      const states = new Map(
        seats.flatMap((who) => (who === undefined ? [] : [[who, takeSeat(opened, who.keys, systemRandom)] as const])),
      );
      const turn = async (confirm?: string) => {
        const outcomes = [];
        for (const [who, state] of states) {
          const share = shares[(terms.deals[state.seat - 1] ?? 0) - 1];
          const more = { ...(confirm === undefined ? {} : { confirm }), ...(share === undefined ? {} : { share }) };
          const step = ceremonyStep(nodeCrypto, { keys: who.keys, state, view: await view(), at: now(), ...more });
          states.set(who, step.state);
          await appendFile(path, encodeTranscript(step.entries));
          outcomes.push(step.outcome);
        }
        return outcomes;
      };
      const deals = terms.deals[seats.indexOf(undefined)] === 2 ? ["--held", "held"] : [];
      const act = async (...more: readonly string[]) => {
        const ran = await outside(["act", file, "py.keys", `${file}.state`, "--join", ...deals, ...more]);
        expect([ran.code, ran.err]).toEqual([0, ""]);
      };
      for (let round = 0; round < 4; round++) {
        await turn();
        await act();
      }
      const { transcript = "" } = await view();
      await turn(transcript);
      await act("--confirm", transcript);
      await done("act", file, "wim.keys", "none", "--confirm", transcript);
      await act("--share", `${file}.share`);
      const share = await readFile(join(dir, `${file}.share`), "utf8").then(
        (text) => Share.decode(JSON.parse(text).data),
        () => undefined,
      );
      const { status, crk: made } = await view();
      expect(status).toBe("active");
      return { crk: made as CrkPublic, ours: await turn(), share };
    };
    const given = ({ ours, share }: Awaited<ReturnType<typeof held>>) => [
      ...ours.flatMap((outcome) => (outcome.kind === "active" ? [outcome.share] : [])),
      ...(share === undefined ? [] : [share]),
    ];
    const bob = person("bob");
    const numbers = { kind: "reshare", threshold: 2, total_shares: 2 };
    for (const [name, terms] of [
      ["deals only", { ...numbers, seats: [ada, cy, undefined], deals: [1, 0, 2] }],
      ["is given only", { ...numbers, seats: [undefined, cy, ada], deals: [0, 3, 1] }],
      ["both", { ...numbers, seats: [bob, undefined, ada], deals: [0, 2, 1] }],
    ] as const) {
      const made = await held(name.replaceAll(" ", "-"), terms);
      const all = given(made);
      expect(all.length, name).toBe(2);
      expect(made.crk).toMatchObject({ epoch: 2, publicKey: crk.publicKey });
      const byIndex = new Map(all.map((share) => [share.index, share] as const));
      expect((await signed({ crk: made.crk, shares: byIndex }, [1, 2]))[0], name).toBe(0);
    }
    const helped = await held("helps", { kind: "repair", index: 1, seats: [ada, undefined, cy], deals: [0, 2, 3] });
    expect(given(helped).map((share) => share.encode())).toEqual([shares[0]?.encode()]);
    const repaired = await held("repaired", { kind: "repair", index: 2, seats: [undefined, ada, cy], deals: [0, 1, 3] });
    expect(repaired.share?.encode()).toBe(shares[1]?.encode());
  });

  it("complains of a package that does not hold, with keys that a device opens, and whoever verifies names its dealer", async () => {
    const { ada, cy } = people;
    const { path, view, step } = await started("lying", { kind: "generate", threshold: 2 });
    for (const seat of [ada, cy]) await appendFile(path, encodeTranscript((await step(seat)).entries));
    // From here on its keys are sealed by a device, of which the program is given the answer.
    const own = await openKeyFile(nodeCrypto, await readFile(join(dir, "py.keys")), "correct horse");
    const seal = tokenSeal(nodeCrypto, { token: "py", key: "custody" }, systemRandom);
    const answer = systemRandom(32);
    await writeFile(join(dir, "py.keys"), await sealKeyFile(nodeCrypto, own, { seal, answer }, systemRandom));
    const byDevice = { ANSWER: Buffer.from(answer).toString("hex") };
    expect((await outside(["act", "lying", "py.keys", "py.state", "--join"])).code).toBe(1);
    expect(await outside(["act", "lying", "py.keys", "py.state", "--join"], byDevice)).toMatchObject({ code: 0 });
    const honest = (await step(ada)).entries.map(({ act }) => act)[0] as { readonly sealed: readonly string[] };
    const sealed = honest.sealed.map((text) => `${text.slice(0, 60)}AAAA${text.slice(64)}`);
    const lie = signEntry(ada.keys, { ceremony: "lying", author: "ada", at: now() }, { type: "packages", sealed }, await view());
    await appendFile(path, encodeTranscript([lie]));
    const { code, out } = await outside(["act", "lying", "py.keys", "py.state"], byDevice);
    expect([code, out]).toEqual([0, expect.stringContaining("act: complaint")]);
    expect((await view()).blame).toMatchObject({ seat: 1, reason: "package" });
  });

  it("enrols with a gateway, and is seat and witness of a ceremony that it relays, beside commands of ours", async () => {
    const dev = await openDevProcess();
    try {
      const credentials = JSON.parse(await readFile(dev.credentials, "utf8"));
      const { admins } = credentials.organizations.acme;
      const ours = { ada: "security_admin", bob: "operations_admin" };
      const theirs = { py: "auditor", wim: "super_admin" };
      const call = async (role: string, line: string) => {
        const host = scriptedHost({ cwd: dir, secrets: ["correct horse", "correct horse"] });
        const code = await run([...line.split(" "), "--as", `acme/${role}`, "--credentials", dev.credentials, "--json"], host);
        expect(code, `${line}: ${[...host.lines, ...host.errors].join()}`).toBe(0);
        return host.json();
      };
      const there = async (role: string, ...args: readonly string[]) => {
        const { cert, key } = admins[role];
        const env = { GATEWAY: credentials.base_urls.gateway, CA: credentials.ca, CERT: cert, KEY: key };
        const { code, out, err } = await outside(args, env);
        expect([code, err]).toEqual([0, ""]);
        return out;
      };
      const enrolled: [string, Record<string, unknown>][] = [];
      for (const [name, role] of Object.entries(ours)) {
        const host = scriptedHost({ cwd: dir, secrets: ["correct horse", "correct horse"] });
        await run(["custodian", "new", "--org", "acme", "--name", admins[role].id, "--out", `${name}.keys`], host);
        await run(["custodian", "card", `${name}.keys`, "--out", `${name}.card`], host);
        enrolled.push([role, await call(role, `custodian enroll ${name}.keys`)]);
      }
      for (const [name, role] of Object.entries(theirs)) {
        await done("new", "acme", admins[role].id, `${name}-here.keys`);
        await writeFile(join(dir, `${name}.card`), await done("card", `${name}-here.keys`));
        enrolled.push([role, JSON.parse(await there(role, "enroll", `${name}-here.keys`))]);
      }
      for (const [role, { id, fingerprint }] of enrolled) {
        const others = ["super_admin", "security_admin", "operations_admin"].filter((other) => other !== role);
        for (const other of others.slice(0, 2)) await call(other, `gateway confirm-custodian ${id} --fingerprint ${fingerprint}`);
      }
      const cards = ["ada", "py", "bob", "wim"].map((name) => `${name}.card`);
      const start = "custodian start --keys ada.keys --threshold 2 --witness wim.card --seat ada.card py.card bob.card";
      const ceremony = String((await call("security_admin", start))["ceremony"]);
      const act = (name: "ada" | "bob", more = "") =>
        call(ours[name], `custodian act ${ceremony} --keys ${name}.keys --state ${name}.state${more}`);
      const py = (...more: readonly string[]) =>
        there("auditor", "act", ceremony, "py-here.keys", "py.state", "--card", ...cards, ...more);
      for (const more of [" --join", "", ""]) {
        await act("ada", more);
        await py("--join");
        await act("bob", more);
      }
      const transcript = String((await act("ada"))["transcript"]);
      for (const name of ["ada", "bob"] as const) await act(name, ` --confirm ${transcript}`);
      expect(await py("--confirm", transcript)).toContain("act: confirmation");
      const witnessed = await there("super_admin", "act", ceremony, "wim-here.keys", "none", "--confirm", transcript);
      expect(witnessed).toContain("act: witness");
      expect(await py("--share", "py.share")).toContain('"active"');
      await act("ada", " --share ada.share");
      const { crk_id } = await call("auditor", `gateway get-custody-ceremony ${ceremony}`);
      await call("auditor", `gateway get-crk-transcript ${crk_id} --out transcript`);
      const host = scriptedHost({ cwd: dir });
      expect(await run(["ceremony", "verify", "transcript", "--active", "--crk", "crk", "--card", ...cards], host)).toBe(0);
      const sign = ["sign", "--crk", "crk", "--share", "ada.share", "py.share", "--message", "cmVsZWFzZSA3"];
      expect(await run(sign, scriptedHost({ cwd: dir }))).toBe(0);
    } finally {
      await dev.close();
    }
  });

  it("seeds a password ceremony of a gateway, opens its share, and signs in a session without sending it", async () => {
    const dev = await openDevProcess();
    try {
      const call = async (role: string, args: readonly string[], secrets: readonly string[] = []) => {
        const host = scriptedHost({ cwd: dev.dir, secrets });
        const code = await run([...args, "--as", `acme/${role}`, "--credentials", dev.credentials, "--json"], host);
        expect(code, host.lines.join()).toBe(0);
        return host.json();
      };
      const credentials = JSON.parse(await readFile(dev.credentials, "utf8"));
      const { cert, key } = credentials.organizations.acme.admins.auditor;
      const as = {
        GATEWAY: credentials.base_urls.gateway,
        CA: credentials.ca,
        CERT: cert,
        KEY: key,
        PASSPHRASE: "my password 2",
      };
      const own = async (...args: readonly string[]) => {
        const { code, out, err } = await outside(args, as);
        expect([code, err]).toEqual([0, ""]);
        return out;
      };
      // Its keys are enrolled, so that it confirms what the gateway deals.
      await own("new", "acme", credentials.organizations.acme.admins.auditor.id, "dealt.keys");
      const { id: enrolment, fingerprint } = JSON.parse(await own("enroll", "dealt.keys"));
      for (const role of ["super_admin", "security_admin"])
        await call(role, ["gateway", "confirm-custodian", enrolment, "--fingerprint", fingerprint]);
      const { id: ceremony } = await call("super_admin", ["ceremony", "generate", "--shares", "3", "--threshold", "2"]);
      const roles = ["security_admin", "auditor", "operations_admin"];
      for (const index of [1, 3])
        await call(
          roles[index - 1] ?? "",
          ["ceremony", "seed", String(ceremony), "--index", `${index}`],
          [`my password ${index}`],
        );
      await own("seed", String(ceremony), "2");
      const { hash: seats } = await call("super_admin", ["ceremony", "finish", String(ceremony)]);
      const finish = ["ceremony", "finish", String(ceremony), "--seats", String(seats)];
      const { crk } = (await call("super_admin", finish)) as { crk: { id: string } };
      await call("security_admin", ["ceremony", "open-share", crk.id, "1", "--out", "1.json"], ["my password 1"]);
      await own("open-share", crk.id, "2", "2.json");
      const { verifier_key: logKey } = await call("super_admin", ["gateway", "audit-checkpoint"]);
      const [shown = ""] = (await own("confirm", crk.id, "dealt.keys", String(logKey))).split("\n");
      const { transcript } = JSON.parse(shown);
      expect(JSON.parse(await own("confirm", crk.id, "dealt.keys", String(logKey), "--hash", transcript))).toMatchObject({
        confirmed: [2],
        awaited: [],
      });
      await writeFile(join(dev.dir, "body.json"), JSON.stringify({ type: "full" }));
      await writeFile(join(dev.dir, "request.json"), JSON.stringify({ operation: "backup.create", body: { type: "full" } }));
      const prepared = await call("super_admin", ["gateway", "create-signing-request", "--body", "@request.json"]);
      const message = String(prepared["message"]);
      const { id: session } = await call("super_admin", ["ceremony", "session", "--message", message, "--body", "body.json"]);
      const hash = createHash("sha256").update(message, "base64").digest("hex");
      await own("sign", String(session), "2.json");
      await Promise.all([
        call("security_admin", ["ceremony", "join", String(session), "--share", "1.json", "--sign", hash]),
        own("sign", String(session), "2.json", "--sign", hash),
      ]);
      const { signature } = await call("super_admin", ["ceremony", "aggregate", String(session)]);
      expect(signature).toMatch(/^[A-Za-z0-9+/]{86}==$/);
    } finally {
      await dev.close();
    }
  });
});
