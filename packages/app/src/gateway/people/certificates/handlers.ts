import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { invalidField, lifetimes, notFound, requireCertifiableName, requireRevocable } from "@seneschal/core/keys";
import { certificatePem, parseSerial, type SubjectAltName, serialText } from "@seneschal/crypto/x509";
import { isCoded } from "@seneschal/kernel";
import { type CertificateRecord, certificates, hostName, instanceAuthorities, isLocal, type Reader } from "../../ground/index.ts";
import type { PeopleServices } from "../services.ts";
import { answerOcsp } from "./ocsp.ts";
import { authorityOf, revocationList } from "./revocation-list.ts";
import { revokeCertificate } from "./revoke.ts";
import { certificateView } from "./view.ts";

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
  const record = id === undefined ? undefined : await read.get(certificates, id);
  if (record === undefined || record.org_id !== org) throw notFound("certificate");
  return record;
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

/** Names that mean something to the gateway itself are not for sale. */
function requireOrdinaryName(field: string, name: string): void {
  const lower = name.toLowerCase().replace(/\.$/, "");
  if (lower.endsWith(".internal.local") || lower === "internal.local") throw invalidField(field, "is reserved for services");
  if (lower.startsWith("federation.")) throw invalidField(field, "is reserved for federation");
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
      requireOrdinaryName(field, text);
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

  async listCertificates({ read }, { principal, query, now }) {
    const { items, total } = await read.page(certificates, "by_org", [principal.org], query);
    return { certificates: items.map((record) => certificateView(record, now)), count: items.length, total };
  },

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
