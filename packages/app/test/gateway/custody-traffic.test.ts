import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { crkFromJson, crkToJson, type Share, Signer } from "@seneschal/crypto/threshold";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RecordedTraffic, recordTraffic } from "../../../../tools/recorded-traffic.ts";
import { formsOf, secretsIn } from "../../../../tools/secrets-in.ts";
import { begin } from "./begin.ts";
import { CEREMONIES, enrolled, held, type Person, person, startEntry, transcriptOf, turn } from "./custody-people.ts";
import { type Caller, openRig, type Rig } from "./rig.ts";
import { type WatchedClient, watchedClient } from "./watched-client.ts";

const { Point } = ed25519;
const { Fn } = Point;
const SESSIONS = "/api/v1/crk/signing-sessions";
const integer = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

let rig: Rig;
let traffic: RecordedTraffic;
let officer: Caller;
const clients = new Map<Person, WatchedClient>();
beforeAll(async () => {
  rig = await openRig();
  traffic = recordTraffic();
  officer = rig.bearer({ sub: "root", org: "searched", roles: ["super_admin"] });
  await begin(rig.gateway, "searched");
  for (const sub of ["ada", "bob", "cy", "dan", "wim", "sue"]) {
    const client = watchedClient();
    clients.set(await person(rig, officer, "searched", sub, client), client);
  }
  await enrolled([...clients.keys()]);
});
afterAll(async () => {
  traffic?.stop();
  await rig?.close();
});

/** Public points of what was held: the discrete logarithm of each is a secret of a custodian. */
const points = new Set<string>();

type Shares = readonly (Share | undefined)[];

/** Holds a ceremony to its end: the key's public half, and the share that each seat is given. */
async function ceremony(terms: object, seats: readonly Person[], olds: Shares = []) {
  const [witness, starter] = [...clients.keys()].slice(4) as [Person, Person];
  const cast = { seats, witness, starter };
  const { id } = (await starter.call("POST", CEREMONIES, { entry: startEntry(rig.clock, cast, terms) })).body;
  expect((await held(rig.clock, id, cast, olds)).body).toMatchObject({ status: "active" });
  const shares: (Share | undefined)[] = [];
  for (const [i, who] of seats.entries()) {
    const { outcome } = await turn(rig.clock, who, id, olds[i] === undefined ? {} : { share: olds[i] });
    shares.push(outcome.kind === "active" ? outcome.share : undefined);
    delete who.state;
  }
  const { committed, crk } = await transcriptOf(officer, `${CEREMONIES}/${id}/transcript`);
  if (crk === undefined) throw new Error("no key");
  const material = crkToJson(crk);
  for (const point of [...committed.values()].flatMap(({ commitments }) => commitments)) points.add(point);
  for (const point of material.verifying_shares) points.add(point);
  return { material, shares };
}

/** Signs in a session. Answers the nonces (RFC 9591, section 4.1). */
async function session(people: readonly Person[], shares: Shares): Promise<readonly bigint[]> {
  const nonces: bigint[] = [];
  const { id, crk, round } = (await officer("POST", SESSIONS, { data: base64(Buffer.from("release 7")) })).body;
  const signers = people.map((who, i) => {
    const share = shares[i] as Share;
    const signer = new Signer(crkFromJson(crk), share, round, (length) => {
      const drawn = who.client.random(length);
      const hash = createHash("sha512").update("FROST-ED25519-SHA512-v1nonce").update(drawn).update(share.payload());
      nonces.push(Fn.create(integer(hash.digest())));
      return drawn;
    });
    points.add(signer.commitment.hiding).add(signer.commitment.binding);
    return { who, signer };
  });
  const said = async (who: Person, what: string, body: object) =>
    expect((await who.call("POST", `${SESSIONS}/${id}/${what}`, body)).status).toBe(200);
  for (const { who, signer } of signers) await said(who, "commit", signer.commitment);
  const { commitments } = (await officer("GET", `${SESSIONS}/${id}`)).body;
  for (const { who, signer } of signers) await said(who, "sign", signer.sign(round, commitments));
  expect((await officer("POST", `${SESSIONS}/${id}/aggregate`)).status).toBe(200);
  return nonces;
}

/** What two helpers deal with, and what is left of it beside a summand that was drawn: a share by its weight at `at`. */
function weighted(share: Share, other: Share, at: number, drawn: readonly bigint[]): readonly bigint[] {
  const weight = Fn.div(Fn.create(BigInt(at - other.index)), Fn.create(BigInt(share.index - other.index)));
  const dealt = Fn.mul(weight, integer(share.payload()));
  return [dealt, ...drawn.map((summand) => Fn.sub(dealt, summand))];
}

it("no private key, share, coefficient or nonce leaves a custodian's process: all that is sent and answered in ceremonies of every kind and in a session, in every form", async () => {
  const [ada, bob, cy, dan] = [...clients.keys()] as [Person, Person, Person, Person];
  const first = await ceremony({ kind: "generate", threshold: 2 }, [ada, bob, cy]);
  const next = await ceremony({ kind: "refresh", crk: first.material }, [ada, bob, cy], first.shares);
  const [adas, bobs, cys] = next.shares as [Share, Share, Share];
  const dealers = { crk: next.material, deals: [0, 1, 3] };
  const repaired = await ceremony({ kind: "repair", index: 2, ...dealers }, [bob, ada, cy], [undefined, adas, cys]);
  expect(repaired.shares[0]?.encode()).toBe(bobs.encode());
  const handing = { kind: "reshare", threshold: 2, total_shares: 2, ...dealers };
  const handed = await ceremony(handing, [dan, ada, cy], [undefined, adas, cys]);
  const nonces = await session([dan, ada], handed.shares);

  const secrets = new Map([...clients.values()].flatMap((client) => [...client.secrets]));
  const values = [...secrets.values()];
  // A coefficient is made of 48 bytes (FIPS 186-5, A.2.1).
  const drawn = values.filter(({ length }) => length === 48).map((bytes) => (integer(bytes) % (Fn.ORDER - 1n)) + 1n);
  const shares = [...first.shares, ...next.shares, ...handed.shares].flatMap((share) => share ?? []);
  const scalars = [
    ...[...nonces, ...drawn, ...shares.map((share) => integer(share.payload()))],
    ...[0, 2].flatMap((at) => [...weighted(adas, cys, at, drawn), ...weighted(cys, adas, at, drawn)]),
  ];
  const logarithms = new Map(scalars.map((scalar) => [base64(Point.BASE.multiply(scalar).toBytes()), scalar]));
  // Whoever refreshes commits to nothing at zero.
  points.delete(base64(Point.ZERO.toBytes()));
  for (const point of points) {
    expect(logarithms.get(point), "the secret of every public point is looked for").toBeDefined();
    secrets.set(point, Fn.toBytes(logarithms.get(point) as bigint));
  }
  for (const { id, keys } of clients.keys()) {
    const [seed, secret] = [keys.toBytes().slice(0, 32), keys.toBytes().slice(32)];
    expect([seed, secret].every((key) => secrets.has(Buffer.from(key).toString("hex")))).toBe(true);
    secrets.set(`the signing scalar of ${id}`, Fn.toBytes(ed25519.utils.getExtendedPublicKey(seed).scalar));
  }

  const recorded = traffic.text();
  expect(traffic.requests).toBeGreaterThan(100);
  for (const point of points) expect(recorded).toContain(point);
  expect(secretsIn(recorded, secrets)).toEqual([]);

  // The search finds a share in whatever form it is put among all that, and those that the interface's own way of signing hands to the server.
  const leak = new Map([
    ["the leak", bobs.payload()],
    ["another", adas.payload()],
  ]);
  const middle = recorded.indexOf("\n", recorded.length / 2);
  for (const form of formsOf(bobs.payload()))
    expect(secretsIn(`${recorded.slice(middle - 500, middle)}${form}${recorded.slice(middle, middle + 500)}`, leak)).toEqual([
      "the leak",
    ]);
  const [dans, adasNew] = handed.shares as [Share, Share];
  const own = [dans, adasNew].map((share) => ({ index: share.index, data: share.encode() }));
  const { public_key } = handed.material;
  expect((await officer("POST", "/api/v1/crk/sign", { public_key, data: "eA==", shares: own })).status).toBe(200);
  const given = new Map([
    ["dan's", dans.payload()],
    ["ada's", adasNew.payload()],
    ["bob's", bobs.payload()],
  ]);
  expect(secretsIn(traffic.text(), given)).toEqual(["dan's", "ada's"]);
});
