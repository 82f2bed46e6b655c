import { cpSync } from "node:fs";
import { join } from "node:path";
import { directoryBackups } from "@seneschal/adapters/backups";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { startVaultEmulator } from "@seneschal/adapters/vault/emulator";
import { createRequest, localSigner, newPrivateKey, requestPem } from "@seneschal/crypto/x509";
import type { Vault } from "@seneschal/kernel/ports";
import { ClassicLevel } from "classic-level";
import { acceptAuditGap, archiveDueEvents, enrolFirstAdmin } from "../../src/gateway/index.ts";
import { authenticatorApp } from "../gateway/authenticator-app.ts";
import { begin } from "../gateway/begin.ts";
import { CEREMONIES, CUSTODIANS, enrolled, held, type Person, person, startEntry } from "../gateway/custody-people.ts";
import type { Entities } from "../gateway/entities.ts";
import type { Side } from "../gateway/federated.ts";
import { openLevelRigStore } from "../gateway/level-store.ts";
import { type Registered, registered } from "../gateway/registered.ts";
import { type Answer, openRig, type Rig } from "../gateway/rig.ts";
import { tellSink } from "./tell-sink.ts";

/** The answer of a call that succeeds. */
export async function must(call: Promise<Answer>): Promise<Answer> {
  const answer = await call;
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
}

/** An instance whose operator enrolled its first admin, and whose disk then lost one event that nothing had signed: its number. */
export async function writeFirstAdmin(
  path: string,
  whole: string,
  vaultOf: (store: Rig["store"]) => Promise<Vault>,
): Promise<number> {
  const store = await openLevelRigStore(whole);
  const rig = await openRig({
    store,
    vault: await vaultOf(store),
    organizations: [],
    settings: { server: { instance_id: "gateway-of-acme" } },
  });
  await rig.gateway.services.audit.seal();
  const email = "first@first.example";
  const key = localSigner(nodeCrypto, newPrivateKey(nodeCrypto, "p256", systemRandom));
  const request = requestPem(await createRequest(key, { subject: [{ type: "CN", value: email }] }));
  await enrolFirstAdmin(rig.gateway.services, { org: "first", email, name: "First", request });
  const [lost, last] = (await store.auditRead(0, 1000)).slice(-2).map(({ seq }) => seq);
  // As a machine that stops leaves it: the log is not sealed behind these events.
  cpSync(whole, path, { recursive: true });
  await rig.close();
  await store.close();
  const raw = new ClassicLevel<string, string>(path);
  await raw.del(`a/${String(lost).padStart(16, "0")}`);
  await raw.close();
  if (lost === undefined || last !== lost + 1) throw new Error("no event with one behind it");
  return lost;
}

/** The operator's word that the event is gone for good. */
export async function acceptGap({ gateway, clock }: Rig, lost: number): Promise<void> {
  const { log } = await acceptAuditGap(gateway.services, { first: lost, last: lost, reason: "a disk", now: clock.now() });
  if (!log.valid) throw new Error(JSON.stringify(log));
}

/** A root key from a seeded generation, whose shares only the custodians' passwords open. */
async function generate({ rig }: Side, all: Entities): Promise<void> {
  const founder = rig.bearer({ sub: "founder", org: "seeded", roles: ["super_admin"] });
  const { body } = await must(founder("POST", "/api/v1/crk/generate-ceremony/start", { total_shares: 2, threshold: 2 }));
  for (const index of [1, 2]) {
    const custodian = await registered(rig, founder, { org: "seeded", sub: `custodian-${index}` });
    const seed = { ...(await all.bodies["seedGenerationCeremony"]?.({})), index };
    await must(custodian.call("POST", `/api/v1/crk/generate-ceremony/${body.id}/seed`, seed));
  }
  await must(founder("POST", `/api/v1/crk/generate-ceremony/${body.id}/complete`));
}

/** A ceremony of custodians by their own clients. */
async function holdCustody({ rig }: Side): Promise<void> {
  const officer = rig.bearer({ sub: "root", org: "custody", roles: ["super_admin"] });
  await begin(rig.gateway, "custody");
  const people: Person[] = [];
  for (let i = 1; i <= 5; i++) people.push(await person(rig, officer, "custody", `person-${i}`));
  await enrolled(people);
  const [ada, bob, cy, witness, starter] = people as [Person, Person, Person, Person, Person];
  const cast = { seats: [ada, bob, cy], witness, starter };
  const { body } = await must(starter.call("POST", CEREMONIES, { entry: startEntry(rig.clock, cast) }));
  await must(held(rig.clock, body.id, cast));
}

/** What a person's token of an emergency made. */
async function breakGlass({ rig }: Side): Promise<void> {
  const base = "/api/v1/emergency-access";
  const night = rig.bearer({ sub: "night-shift", org: "acme" });
  const { id } = (await must(night("POST", `${base}/request`, { reason: "the castle burns" }))).body;
  for (const role of ["super_admin", "security_admin"] as const)
    await must(rig.admin("acme", role)("POST", `${base}/${id}/approve`));
  const { token } = (await must(night("GET", `${base}/${id}`))).body;
  const authorization = `Bearer ${token}`;
  await must(rig.anonymous("POST", "/api/v1/identities/groups", { name: "friends" }, { authorization }));
}

/** A second factor that was confirmed. */
async function enrolFactor({ rig }: Side): Promise<void> {
  const operator = rig.admin("acme", "operations_admin");
  const base = `/api/v1/identities/admins/${rig.dev.organizations["acme"]?.admins.operations_admin.id}/mfa`;
  const { body } = await must(operator("POST", `${base}/enable`));
  const code = authenticatorApp(body.provisioning_url, () => rig.clock.now());
  await must(operator("POST", `${base}/verify`, { totp_code: code() }));
}

/** A call that a signature without a prepared request allows, under a key that its answer is kept by. */
async function signOutright({ call, key, rig }: Side): Promise<void> {
  const { id } = (
    await must(rig.admin("acme")("POST", "/api/v1/workspaces", { name: "kept" }, { "idempotency-key": "kept-key" }))
  ).body;
  const iat = Math.floor(rig.clock.now() / 1000);
  const signature_params = { nonce: "n".repeat(32), iat, exp: iat + 60 };
  const change = { purpose: "new", signature_params };
  const refused = await call("PUT", `/api/v1/workspaces/${id}`, { ...change, signature: Buffer.alloc(64, 7).toString("base64") });
  const data: string = refused.body.error.details.message;
  const made = await must(call("POST", "/api/v1/crk/sign", { shares: key.shares.slice(0, 2), public_key: key.publicKey, data }));
  await must(call("PUT", `/api/v1/workspaces/${id}`, { ...change, signature: made.body.signature }));
}

/** What was pushed to the vault of an edge. */
async function pushToEdge({ call, rig }: Side): Promise<void> {
  const emulator = await startVaultEmulator({ crypto: nodeCrypto, random: systemRandom, now: () => rig.clock.now() });
  try {
    const body = { name: "pushed", vault_address: emulator.address, vault_token: emulator.rootToken };
    const { id } = (await must(call("POST", "/api/v1/edges", body))).body;
    await must(call("POST", `/api/v1/edges/${id}/sync/policies`));
  } finally {
    await emulator.close();
  }
}

/** What partners know of each other: a card, a message, the other's log, and the consent to end a workspace of both. */
async function dealWithPartner(acme: Side, globex: Side, shared: string): Promise<void> {
  const theirs: Person[] = [];
  for (let i = 1; i <= 3; i++) theirs.push(await person(globex.rig, globex.call, "globex", `person-${i}`));
  const [hank] = theirs as [Person];
  const [enrolment] = await enrolled(theirs);
  await must(hank.call("PUT", `${CUSTODIANS}/${enrolment}/partners`, { partners: ["acme"] }));
  const ada: Registered = await registered(acme.rig, acme.call, { org: "acme", sub: "ada" });
  await must(ada.call("GET", `/api/v1/custody/cards/globex/${hank.id}`));
  const letter = { recipient_org_id: "acme", recipient_id: ada.id, subject: "s", body: "AAAA" };
  await must(hank.call("POST", "/api/v1/messages", letter));
  await globex.rig.gateway.deliver(globex.rig.clock.now());
  for (const { rig } of [acme, globex]) await rig.gateway.askWitnesses(rig.clock.now());
  const signature = await globex.key.sign("workspace.delete", shared, {});
  await must(globex.call("POST", `/api/v1/workspaces/${shared}/deletion-consent`, { signature }));
}

/** What is left of background work: a lease, how far a sink has heard, and events that were moved into an archive. */
async function workInBackground({ rig }: Side, scratch: string): Promise<void> {
  await rig.gateway.rotation.run(rig.clock.now());
  await tellSink(rig.store, rig.clock, scratch);
  await rig.gateway.services.audit.seal();
  // All that was recorded, also an hour from now by the first delivery.
  const due = { olderThan: 0, now: rig.clock.now() + 7_200_000, few: false };
  const archived = await archiveDueEvents(rig.gateway.services, directoryBackups(join(scratch, "archive")), due);
  if (archived.length === 0) throw new Error("nothing was archived");
}

/** What no maker of one entity leaves behind. `shared` is a workspace of `acme` with `globex` in it, `scratch` a directory that goes afterwards. */
export async function makeTheRest(
  { acme, globex, all }: { readonly acme: Side; readonly globex: Side; readonly all: Entities },
  { shared, scratch }: { readonly shared: string; readonly scratch: string },
): Promise<void> {
  await generate(acme, all);
  await holdCustody(acme);
  await breakGlass(acme);
  await enrolFactor(acme);
  await signOutright(acme);
  await pushToEdge(acme);
  await dealWithPartner(acme, globex, shared);
  await workInBackground(acme, scratch);
}
