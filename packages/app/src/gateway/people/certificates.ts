import { nextTurn } from "@seneschal/adapters/system";
import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  invalidField,
  isPast,
  lifetimes,
  notFound,
  requireCertifiableName,
  requireRevocable,
  timestamp,
} from "@seneschal/core/keys";
import {
  certificatePem,
  createOcspResponse,
  createRevocationList,
  isIssuedBy,
  type OcspRequest,
  type OcspStatus,
  ocspError,
  parseOcspRequest,
  parseSerial,
  type Revocation,
  type SubjectAltName,
  serialText,
} from "@seneschal/crypto/x509";
import { isCoded } from "@seneschal/kernel";
import {
  authorities,
  type CertificateRecord,
  certificates,
  findOwn,
  type GatewayUnit,
  hostName,
  instanceAuthorities,
  isLocal,
  listed,
  type Reader,
  systemCall,
} from "../ground/index.ts";
import type { PeopleServices } from "./services.ts";

const CRL_VALID_MS = 7 * 86_400_000;
const PAGE = 1000;

/** The signed list of everything that an authority (an organisation's, or one of the instance's own) revoked, DER, made anew for every answer: no revocation is late. */
async function revocationList(services: PeopleServices, authority: string, now: number): Promise<Uint8Array> {
  const issuer = await authorityOf(services, authority, now);
  return createRevocationList(issuer, {
    entries: revocations(services, authority),
    // Seconds grow, also over processes and restarts.
    number: Math.floor(now / 1000),
    thisUpdate: now,
    nextUpdate: now + CRL_VALID_MS,
    pause: nextTurn,
  });
}

/** An authority with its key; one that was never needed is not made because a stranger asks for its list. */
async function authorityOf(services: PeopleServices, authority: string, now: number) {
  if ((await services.read.get(authorities, authority)) === undefined) throw notFound("certificate authority");
  return services.transact(systemCall("system:pki", authority, now), (unit) => services.pki.issuer(unit, authority));
}

async function* revocations({ store }: PeopleServices, authority: string): AsyncGenerator<Revocation> {
  let cursor: string | undefined;
  do {
    const page = await store.list(certificates.name, "revoked", [authority], {
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { id, doc } of page.items) {
      yield { serial: parseSerial(id), revokedAt: Date.parse(String(doc["revoked_at"])) };
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
}

const OCSP_VALID_MS = 3_600_000;

/** Answers an OCSP request (RFC 6960) for an authority: an organisation's, or one of the instance's own by its id. What is no request is answered as the RFC says, not by an HTTP error. */
async function answerOcsp(services: PeopleServices, authority: string, body: Uint8Array, now: number): Promise<Uint8Array> {
  let request: OcspRequest;
  try {
    request = parseOcspRequest(body);
  } catch (error) {
    if (!isCoded(error)) throw error;
    return ocspError("malformed_request");
  }
  const { certificate, signer } = await authorityOf(services, authority, now);
  const statuses = [];
  for (const id of request.ids) {
    const ours = isIssuedBy(services.crypto, id, certificate);
    statuses.push({
      id,
      status: ours ? await statusOf(services, authority, serialText(id.serial)) : ({ kind: "unknown" } as const),
    });
  }
  const times = { producedAt: now, thisUpdate: now, nextUpdate: now + OCSP_VALID_MS };
  const { nonce } = request;
  return createOcspResponse(services.crypto, { signer }, { statuses, ...times, ...(nonce === undefined ? {} : { nonce }) });
}

async function statusOf({ read }: PeopleServices, authority: string, serial: string): Promise<OcspStatus> {
  const record = await read.get(certificates, serial);
  if (record === undefined || (record.authority ?? record.org_id) !== authority) return { kind: "unknown" };
  if (record.revoked_at === null) return { kind: "good" };
  return { kind: "revoked", revokedAt: Date.parse(record.revoked_at) };
}

/** Revokes every certificate that stands for somebody: what the right was ends on every road to it. */
export async function revokeCertificatesOf(
  unit: GatewayUnit,
  org: string,
  subject: Pick<CertificateRecord, "subject_type" | "subject_id">,
): Promise<void> {
  const known = await unit.list(certificates, "by_subject", [org, subject.subject_type, subject.subject_id]);
  for (const { serial_number } of known) await revokeCertificate(unit, serial_number);
}

/** Revokes a certificate from now on. Doing it again changes nothing. Answers the record, `undefined` for an unknown serial. */
export async function revokeCertificate(unit: GatewayUnit, serial: string): Promise<CertificateRecord | undefined> {
  const record = await unit.get(certificates, serial);
  if (record === undefined || record.status === "revoked") return record;
  const at = timestamp(unit.call.now);
  const revoked: CertificateRecord = { ...record, status: "revoked", revoked_at: at, updated_at: at };
  unit.put(certificates, serial, revoked);
  unit.record({ type: "certificate.revoke", org: record.org_id, metadata: { serial_number: serial } });
  return revoked;
}

/** A certificate as callers see it; `expired` is derived, and revoked outlives it. */
function certificateView(record: CertificateRecord, now: number) {
  const status = record.status === "active" && isPast(record.expiration, now) ? ("expired" as const) : record.status;
  return { ...record, status, ca_chain: [...record.ca_chain] };
}

type Routes = Pick<
  GatewayContract,
  | "issueCertificate"
  | "revokeCertificate"
  | "listCertificates"
  | "caChain"
  | "getCertificate"
  | "tidyCertificates"
  | "certificateRevocationList"
  | "ocsp"
  | "ocspByGet"
  | "instanceAuthority"
  | "instanceRevocationList"
  | "serverOcsp"
  | "serverOcspByGet"
>;

const TIDY_BATCH = 200;

/** A certificate of the organisation, by its serial in any spelling. */
async function findCertificate(read: Reader, serial: string, org: string): Promise<CertificateRecord> {
  const id = canonicalSerial(serial);
  if (id === undefined) throw notFound("certificate");
  return findOwn(read, certificates, id, org, "certificate");
}

/** Colon hex, from hex with or without colons; `undefined` when it is no serial. */
export function canonicalSerial(serial: string): string | undefined {
  try {
    return serialText(parseSerial(serial));
  } catch (error) {
    if (isCoded(error)) return undefined;
    throw error;
  }
}

/** A host of `alt_names`, or the common name of a server. */
function host(field: string, value: string): SubjectAltName {
  const name = hostName(value);
  if (name === undefined) throw invalidField(field, "expected a DNS name or an address");
  return name;
}

export const certificateHandlers: Handlers<Routes, PeopleServices> = {
  async issueCertificate(services, { principal, body, now, requestId }) {
    const { usage } = body;
    const altNames = body.alt_names.map((value, index) => host(`alt_names[${index}]`, value));
    if (usage === "server") host("common_name", body.common_name);
    const names = [body.common_name, ...altNames.map(({ value }) => value)];
    for (const [index, text] of names.entries()) {
      const field = index === 0 ? "common_name" : `alt_names.${index - 1}`;
      const name = hostName(text)?.value ?? text;
      requireCertifiableName(services.namesOfInstance, { org: principal.org, usage, name, field });
    }
    const ttl = body.ttl ?? lifetimes.certificate;
    if (ttl <= 0 || ttl > lifetimes.certificateMax) throw invalidField("ttl", "must lie between 1s and 365d");
    const issued = await services.transact({ principal, now, requestId }, async (unit) => {
      const bearer = {
        org: principal.org,
        commonName: body.common_name,
        // Stands for nobody until a device is enrolled with its serial.
        subject: { type: "server" as const, id: body.common_name },
        ttl,
        altNames,
      };
      const record = await services.pki[usage === "server" ? "issueServer" : "issueWithKey"](unit, bearer);
      unit.record({
        type: "certificate.issue",
        metadata: { serial_number: record.serial_number, common_name: body.common_name, usage },
      });
      return record;
    });
    return { ...certificateView(issued, now), private_key: issued.private_key, private_key_type: "ec" };
  },

  async revokeCertificate(services, { principal, body, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const record = await findCertificate(unit, body.serial_number, principal.org);
      // One that is revoked already stays so, whoever asks again.
      if (record.status === "active") requireRevocable(record.subject_type);
      await revokeCertificate(unit, record.serial_number);
    });
  },

  listCertificates: async ({ read }, { principal, query, now }) =>
    listed("certificates", await read.page(certificates, "by_org", [principal.org], query), (record) =>
      certificateView(record, now),
    ),

  async caChain(services, { principal, now, requestId }) {
    const chain = await services.transact({ principal, now, requestId }, async (unit) => {
      // Made when it is first asked for, but for nobody who is not there.
      if (!(await isLocal(unit, principal.org))) throw notFound("organization");
      return services.pki.chain(unit, principal.org);
    });
    return { ca_chain: chain.join("") };
  },

  async getCertificate({ read }, { principal, params, now }) {
    return certificateView(await findCertificate(read, params.serial, principal.org), now);
  },

  async tidyCertificates(services, { principal, body, now, requestId }) {
    const buffer = body.safety_buffer ?? lifetimes.tidyBuffer;
    const before = new Date(now - buffer).toISOString();
    let dropped = 0;
    for (;;) {
      const page = await services.read.list(certificates, "by_org_expiration", [principal.org], {
        to: [before],
        limit: TIDY_BATCH,
      });
      if (page.length === 0) break;
      dropped += await services.transact({ principal, now, requestId }, async (unit) => {
        for (const { serial_number } of page) unit.delete(certificates, serial_number);
        unit.record({ type: "certificate.tidy", metadata: { dropped: page.length, before } });
        return page.length;
      });
    }
    return { message: `${dropped} certificate${dropped === 1 ? "" : "s"} that ended before ${before} removed` };
  },

  async certificateRevocationList(services, { params, now }) {
    return { body: await revocationList(services, params.org, now) };
  },

  async ocsp(services, { params, request, now }) {
    return { body: await answerOcsp(services, params.org, request.rawBody, now) };
  },

  async ocspByGet(services, { params, now }) {
    return { body: await answerOcsp(services, params.org, requestOf(params.request), now) };
  },

  async instanceAuthority(services, { params, now }) {
    const { certificate } = await authorityOf(services, instanceAuthorities[params.authority], now);
    return { body: Buffer.from(certificatePem(certificate)) };
  },

  async instanceRevocationList(services, { params, now }) {
    return { body: await revocationList(services, instanceAuthorities[params.authority], now) };
  },

  async serverOcsp(services, { request, now }) {
    return { body: await answerOcsp(services, instanceAuthorities.servers, request.rawBody, now) };
  },

  async serverOcspByGet(services, { params, now }) {
    return { body: await answerOcsp(services, instanceAuthorities.servers, requestOf(params.request), now) };
  },
};

/** The bytes of a request by GET. What is not base64 gives bytes that are no request, and that answer. */
function requestOf(text: string): Uint8Array {
  return Buffer.from(text, "base64");
}
