import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { federationIdentities } from "../../src/gateway/partners/collections.ts";
import { federationKey } from "../../src/gateway/partners/federation/channel.ts";
import { type Answer, type Caller, openRig, type Rig, type RigOptions } from "./rig.ts";
import { type RootKey, rootKey } from "./root-key.ts";

/** One organisation on a gateway of its own. */
export interface Side {
  readonly org: string;
  readonly rig: Rig;
  readonly key: RootKey;
  readonly url: string;
  /** As the super admin. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Signs the body with the root key and sends it along. */
  signed(operation: string, resource: string, method: string, path: string, body: object): Promise<Answer>;
}

/** What two sides need of each other, in this process or another. */
type Calls = Pick<Side, "org" | "url" | "signed">;

/** Sides that open one after the other, on a busy machine, are of one time. */
const BEGAN = Date.now();
const local = ["127.0.0.0/8", "::1"];

interface SideOptions {
  readonly observe?: RigOptions["observe"];
  readonly watched?: true;
  /** For one call of a partner. */
  readonly timeout?: string;
  /** Directory for backups; without it none is made. */
  readonly backups?: string;
  /** Settings of `federation` beside the address. */
  readonly federation?: Readonly<Record<string, unknown>>;
  /** Where the gateway keeps what it knows; stays the caller's to close. */
  readonly kept?: Pick<RigOptions, "store" | "vault" | "decisionsTold">;
}

function rigOptions(org: string, { observe, watched, timeout = "20s", backups, federation, kept }: SideOptions): RigOptions {
  return {
    ...kept,
    began: BEGAN,
    organizations: [org],
    ...(observe && { observe }),
    ...(watched && { watched }),
    settings: {
      ...(backups === undefined ? {} : { backup: { location: backups } }),
      server: { instance_id: `gateway-of-${org}` },
      federation: { allowed_targets: local, timeout, ...federation },
      edges: { allowed_targets: local, allow_http: true, probe_timeout: "1s" },
    },
  };
}

/** A gateway with its own store, vault and root CA. */
export async function openSide(org: string, options: SideOptions = {}): Promise<Side> {
  const rig = await openRig(rigOptions(org, options));
  return sideOf(org, rig, rig.admin(org));
}

/** The same organisation, on a gateway that goes on from what another one kept. */
export async function reopenSide(side: Side, options: SideOptions): Promise<Side> {
  const rig = await openRig(rigOptions(side.org, options));
  const call = rig.bearer({ sub: `admin of ${side.org}`, org: side.org, roles: ["super_admin"] });
  return { ...side, rig, call, url: `https://localhost:${rig.server.port}` };
}

/** Another organisation on a side's gateway, by a token of its super admin. */
export function openNeighbour(org: string, { rig }: Side): Promise<Side> {
  return sideOf(org, rig, rig.bearer({ sub: `admin of ${org}`, org, roles: ["super_admin"] }));
}

async function sideOf(org: string, rig: Rig, call: Caller): Promise<Side> {
  const key = await rootKey(call);
  return {
    org,
    rig,
    key,
    url: `https://localhost:${rig.server.port}`,
    call,
    async signed(operation, resource, method, path, body) {
      const name = operation === "federation.init" || operation === "federation.establish" ? "crk_signature" : "signature";
      return call(method, path, { ...body, [name]: await key.sign(operation, resource, body) });
    },
  };
}

/** What an organisation hands to its partner, out of band. */
export async function credentials(side: Calls): Promise<{ readonly csr: string; readonly certificate: string }> {
  const { status, body, text } = await side.signed("federation.init", "", "POST", "/api/v1/federation/init", {});
  if (status !== 200) throw new Error(text);
  return body;
}

export async function establish(side: Calls, partner: Calls, given: object = {}): Promise<Answer> {
  const { csr, certificate } = await credentials(partner);
  const body = {
    partner_org_id: partner.org,
    partner_url: partner.url,
    partner_cert: certificate,
    partner_csr: csr,
    ...given,
  };
  return side.signed("federation.establish", partner.org, "POST", "/api/v1/federation/establish", body);
}

export function importCertificate(side: Calls, partner: string, certificate: string): Promise<Answer> {
  const body = { partner_org_id: partner, certificate };
  return side.signed("federation.import", partner, "POST", "/api/v1/federation/certificate/import", body);
}

/** Two organisations on two gateways, federated both ways. */
export async function federate(a: Calls, b: Calls): Promise<void> {
  const [forB, forA] = [await establish(a, b), await establish(b, a)];
  if (forB.status !== 201 || forA.status !== 201) throw new Error(forB.text + forA.text);
  const [atA, atB] = [
    await importCertificate(a, b.org, forA.body.certificate),
    await importCertificate(b, a.org, forB.body.certificate),
  ];
  if (atA.status !== 204 || atB.status !== 204) throw new Error(atA.text + atB.text);
}

/** What the gateway of one side shows to the other: the certificate that `at` signed for `of`, and its key. */
export async function partnerIdentity(of: Side, at: Side): Promise<{ readonly cert: string; readonly key: string }> {
  const { services } = of.rig.gateway;
  const identity = await services.read.get(federationIdentities, of.org);
  const { certificate } = (await at.call("GET", `/api/v1/federation/${of.org}`)).body;
  if (identity === undefined) throw new Error("no identity");
  return { cert: Buffer.from(certificate, "base64").toString(), key: await federationKey(services, identity) };
}

/** The gateway of one side as the other sees it. */
export async function asPartner(of: Side, at: Side): Promise<Caller> {
  return at.rig.with(await partnerIdentity(of, at));
}

/** Acme, which is watched and has somewhere to put backups, federated with Globex: every kind of entity can be made there. */
export async function openWatchedPair(): Promise<{ readonly acme: Side; close(): Promise<void> }> {
  const backups = mkdtempSync(join(tmpdir(), "seneschal-pair-"));
  const [acme, globex] = await Promise.all([openSide("acme", { backups, watched: true }), openSide("globex")]);
  await federate(acme, globex);
  return {
    acme,
    async close() {
      await Promise.all([acme.rig.close(), globex.rig.close()]);
      rmSync(backups, { recursive: true, force: true });
    },
  };
}
