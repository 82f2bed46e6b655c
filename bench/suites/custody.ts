import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type IdentityFetch, mtlsFetch } from "@seneschal/adapters/http";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import type { DevCredentialsFile } from "@seneschal/app";
import { devIssuer } from "@seneschal/app/gateway";
import { base64 } from "@seneschal/crypto";
import {
  type Act,
  admitEntry,
  type CustodianCard,
  CustodianKeys,
  cardFingerprint,
  confirmationOf,
  custodianCard,
  signEntry,
  type TranscriptView,
  verifyTranscript,
} from "@seneschal/crypto/custody";
import { DkgParticipant } from "@seneschal/crypto/threshold";
import { type Bench, type BenchResult, serverOptions } from "../bench.ts";
import type { CustodianOrders, TurnReport } from "../custodian-client.ts";

const CEREMONIES = "/api/v1/custody/ceremonies";
/** The most that a ceremony has. */
const SEATS = 255;
const THRESHOLD = 48;

interface Person {
  readonly id: string;
  readonly token: string;
  readonly keys: CustodianKeys;
  readonly card: CustodianCard;
}

/** What a child of this process says next. */
function told<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error("a process ended"));
    child.once("exit", ended);
    child.once("message", (message) => {
      child.off("exit", ended);
      resolve(message as T);
    });
  });
}

const spawned = (file: string, args: readonly string[] = [], options: readonly string[] = []): ChildProcess =>
  fork(new URL(`../${file}`, import.meta.url).pathname, args, {
    execArgv: [...process.execArgv.filter((arg) => !serverOptions.includes(arg)), ...options],
  });

/** All services in a process of their own, and so many people of an organisation without a key whose custodian keys are enrolled. */
async function open(count: number) {
  const dir = mkdtempSync(join(tmpdir(), "seneschal-custody-"));
  const child = spawned("stall-server.ts", [dir], serverOptions);
  const { credentials: file } = await told<{ readonly credentials: string }>(child);
  const credentials = JSON.parse(readFileSync(file, "utf8")) as DevCredentialsFile;
  const acme = credentials.organizations["acme"];
  if (acme === undefined) throw new Error("no organisation");
  const ca = readFileSync(credentials.ca, "utf8");
  const issuer = devIssuer(readFileSync(join(dirname(file), "issuer-key.pem"), "utf8"));
  const base = credentials.base_urls["gateway"] ?? "";
  const open: IdentityFetch[] = [];
  const caller = (http: IdentityFetch, headers: object = {}) => {
    return async (method: string, path: string, body?: object): Promise<string> => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const head = { "content-type": "application/json", ...headers };
      const answer = await http.fetch(`${base}${path}`, { method, headers: head, ...sent });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return text;
    };
  };
  const connected = (identity: object): IdentityFetch => {
    const http = mtlsFetch({ ca, ...identity });
    open.push(http);
    return http;
  };
  const plain = connected({});
  const as = ({ token }: Pick<Person, "token">) => caller(plain, { authorization: `Bearer ${token}` });
  const [first, second] = (["super_admin", "operations_admin"] as const).map((role) => {
    const { cert, key } = acme.admins[role];
    return caller(connected({ cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") }));
  }) as [ReturnType<typeof caller>, ReturnType<typeof caller>];
  const person = async (i: number): Promise<Person> => {
    const [subject, email] = [`custodian-${i}`, `custodian-${i}@people.example`];
    const user = { provider: "idp_a", subject, email, name: subject, groups: [] };
    const { id } = JSON.parse(await first("POST", "/api/v1/identities/users/sso", user)) as { readonly id: string };
    const token = issuer.token({ sub: subject, org: "acme", roles: ["security_admin"], ttl: 3600 }, Date.now());
    const keys = CustodianKeys.generate(nodeCrypto, systemRandom);
    const card = custodianCard(nodeCrypto, keys, { orgId: "acme", custodianId: id }, systemRandom);
    const made = { id, token, keys, card };
    const enrolled = JSON.parse(await as(made)("POST", "/api/v1/custody/custodians", { card })) as { readonly id: string };
    const fingerprint = cardFingerprint(nodeCrypto, card);
    for (const confirm of [first, second])
      await confirm("POST", `/api/v1/custody/custodians/${enrolled.id}/confirm`, { fingerprint });
    return made;
  };
  const people: Person[] = [];
  for (let i = 0; i < count; i++) people.push(await person(i));
  return {
    base,
    ca,
    people,
    as,
    /** The longest turn of the server since the last call, in milliseconds, and the processor seconds that it has used. */
    async measured(): Promise<{ readonly longest: number; readonly processor: number }> {
      child.send("measure");
      return told(child);
    },
    async close(): Promise<void> {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.send("stop");
      await Promise.all([...open.map((http) => http.close()), ended]);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const seconds = (): number => Math.floor(Date.now() / 1000);

/** The start of a generation that the first of the people starts, and whose witness the last is. */
function startOf(people: readonly Person[], threshold: number, ceremony: string) {
  const [starter, witness] = [people[0], people.at(-1)] as [Person, Person];
  const act: Act = {
    type: "start",
    kind: "generate",
    threshold,
    expires_at: seconds() + 3600,
    seats: people.slice(0, -1).map(({ card }) => card),
    witness: witness.card,
    starter: starter.card,
  };
  return { starter, witness, entry: signEntry(starter.keys, { ceremony, author: starter.id, at: seconds() }, act) };
}

/** Five custodians' clients in five processes, and the witness in this one: the processor seconds of all of them and of the server from the start to the key. */
async function fiveProcesses(): Promise<readonly BenchResult[]> {
  const server = await open(6);
  const clients = server.people.slice(0, 5).map(() => spawned("custodian-client.ts"));
  await Promise.all(clients.map((child) => told(child)));
  const before = await server.measured();
  const own = process.cpuUsage();
  const { starter, witness, entry } = startOf(server.people, 3, "five processes");
  const { id } = JSON.parse(await server.as(starter)("POST", CEREMONIES, { entry })) as { readonly id: string };
  const path = `${CEREMONIES}/${id}`;
  await Promise.all(
    clients.map((child, i) => {
      const { token, keys } = server.people[i] as Person;
      const { base, ca } = server;
      child.send({ url: `${base}${path}`, ca, token, keys: base64(keys.toBytes()) } satisfies CustodianOrders);
      return told(child);
    }),
  );
  const turns = async (order: { readonly confirm?: string }): Promise<readonly TurnReport[]> => {
    const reports: TurnReport[] = [];
    for (const child of clients) {
      child.send(order);
      reports.push(await told<TurnReport>(child));
    }
    return reports;
  };
  const read = async (): Promise<TranscriptView> => {
    const report = verifyTranscript(nodeCrypto, Buffer.from(await server.as(witness)("GET", `${path}/transcript`)));
    if (!report.valid) throw new Error(report.refused.reason);
    return report.view;
  };
  // Seats are taken, packages sent, accepted.
  for (let round = 0; round < 3; round++) await turns({});
  const confirm = (await read()).transcript ?? "";
  await turns({ confirm });
  const view = await read();
  const said = confirmationOf("witness", view);
  const last = signEntry(witness.keys, { ceremony: view.ceremony, author: witness.id, at: seconds() }, said, view);
  await server.as(witness)("POST", `${path}/entries`, { entry: last });
  const reports = await turns({});
  if (reports.some(({ outcome }) => outcome !== "active")) throw new Error("the key is not active");
  const after = await server.measured();
  const { user, system } = process.cpuUsage(own);
  for (const child of clients) child.send("stop");
  await server.close();
  const [work, whole] = (["work", "whole"] as const).map((of) => reports.reduce((sum, one) => sum + one[of], 0)) as [
    number,
    number,
  ];
  const served = after.processor - before.processor;
  process.stderr.write(
    `  clients ${reports.map((one) => one.work.toFixed(2)).join(" ")} s, server ${served.toFixed(2)}, witness ${((user + system) / 1e6).toFixed(2)}\n`,
  );
  const total = work + served + (user + system) / 1e6;
  return [
    { name: "custody/dkg 3 of 5, five processes, work", value: total, unit: "processor s", bar: "< 3" },
    { name: "custody/dkg 3 of 5, the server's part", value: served, unit: "processor s" },
    { name: "custody/dkg 3 of 5, with the start of five processes", value: total + whole - work, unit: "processor s" },
  ];
}

/**
 * Many custodians, of each of whom the gateway admits every entry: the longest turn of its event loop by what it was asked. Packages hold nothing here, which who relays cannot tell: what so many
 * clients compute for each other is none of the server's work.
 */
async function manyCustodians(): Promise<readonly BenchResult[]> {
  const server = await open(SEATS + 1);
  const { starter, witness, entry } = startOf(server.people, THRESHOLD, "many custodians");
  const seats = server.people.slice(0, -1);
  const rows: BenchResult[] = [];
  let view: TranscriptView | undefined;
  const phase = async (name: string, work: () => Promise<void>): Promise<void> => {
    await server.measured();
    const began = performance.now();
    await work();
    const { longest } = await server.measured();
    process.stderr.write(`  ${name}: ${longest.toFixed(1)} ms, all in ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
    rows.push({ name: `custody/${SEATS} custodians, ${name}`, value: longest, unit: "ms", bar: "50" });
  };
  const admit = (made: ReturnType<typeof signEntry>): void => {
    const admission = admitEntry(nodeCrypto, view, made);
    if (!admission.admitted) throw new Error(admission.reason);
    view = admission.view;
  };
  let path = "";
  const say = async (who: Person, act: Act): Promise<void> => {
    const made = signEntry(who.keys, { ceremony: "many custodians", author: who.id, at: seconds() }, act, view);
    admit(made);
    await server.as(who)("POST", `${path}/entries`, { entry: made });
  };
  const all = (act: (seat: number) => Act) => async (): Promise<void> => {
    for (const [i, who] of seats.entries()) await say(who, act(i + 1));
  };
  await phase("the start", async () => {
    admit(entry);
    path = `${CEREMONIES}/${(JSON.parse(await server.as(starter)("POST", CEREMONIES, { entry })) as { readonly id: string }).id}`;
  });
  await phase(
    "a seat joins",
    all(() => ({ type: "join", transport_key: base64(nodeCrypto.x25519PublicKey(systemRandom(32))) })),
  );
  await phase(
    "a commitment",
    all((index) => {
      const { index: _, ...broadcast } = new DkgParticipant({ index, threshold: THRESHOLD, total: SEATS, random: systemRandom })
        .broadcast;
      return { type: "commitment", ...broadcast };
    }),
  );
  await phase(
    "packages",
    all(() => ({ type: "packages", sealed: Array.from({ length: SEATS - 1 }, () => base64(systemRandom(80))) })),
  );
  await phase(
    "an acceptance",
    all(() => ({ type: "accepted" })),
  );
  await phase("the transcript is read", async () => {
    for (let i = 0; i < 3; i++) await server.as(witness)("GET", `${path}/transcript`);
  });
  await phase("the ceremony is read", async () => void (await server.as(witness)("GET", path)));
  await phase(
    "a confirmation",
    all(() => confirmationOf("confirmation", view as TranscriptView)),
  );
  await phase("the witness, and the key", () => say(witness, confirmationOf("witness", view as TranscriptView)));
  await server.close();
  return rows;
}

/** Custody ceremonies over HTTPS: what a small one takes of all who take part, and what the largest does to whoever else the server serves. */
export const benches: readonly Bench[] = [
  { name: "custody/dkg", run: fiveProcesses },
  { name: "custody/many", run: manyCustodians },
];
