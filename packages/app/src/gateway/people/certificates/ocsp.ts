import {
  createOcspResponse,
  isIssuedBy,
  type OcspRequest,
  type OcspStatus,
  ocspError,
  parseOcspRequest,
  serialText,
} from "@seneschal/crypto/x509";
import { isCoded } from "@seneschal/kernel";
import { certificates } from "../../ground/index.ts";
import type { PeopleServices } from "../services.ts";
import { authorityOf } from "./revocation-list.ts";

const VALID_MS = 3_600_000;

/** Answers an OCSP request (RFC 6960) for an authority: an organisation's, or one of the instance's own by its id. What is no request is answered as the RFC says, not by an HTTP error. */
export async function answerOcsp(
  services: PeopleServices,
  authority: string,
  body: Uint8Array,
  now: number,
): Promise<Uint8Array> {
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
  const times = { producedAt: now, thisUpdate: now, nextUpdate: now + VALID_MS };
  const { nonce } = request;
  return createOcspResponse(services.crypto, { signer }, { statuses, ...times, ...(nonce === undefined ? {} : { nonce }) });
}

async function statusOf({ read }: PeopleServices, authority: string, serial: string): Promise<OcspStatus> {
  const record = await read.get(certificates, serial);
  if (record === undefined || (record.authority ?? record.org_id) !== authority) return { kind: "unknown" };
  if (record.revoked_at === null) return { kind: "good" };
  return { kind: "revoked", revokedAt: Date.parse(record.revoked_at) };
}
