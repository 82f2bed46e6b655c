import { timestamp } from "@seneschal/core/keys";
import { bytesEqual } from "@seneschal/crypto";
import {
  type Certificate,
  type ChainDecision,
  certificatePem,
  createRequest,
  type Issuer,
  issueCertificate,
  localSigner,
  nameText,
  newPrivateKey,
  newSerial,
  parseCertificate,
  parseCertificates,
  publicKeyOf,
  requestPem,
  verifyChain,
} from "@seneschal/crypto/x509";
import { CodedError } from "@seneschal/kernel";
import type { GatewayUnit } from "../call.ts";
import { type AuthorityNeeds, certifyOrganization, instanceAuthority } from "./authority.ts";
import { authorities, type CertificateRecord, type InstanceAuthority, instanceAuthorities } from "./collections.ts";

/** The chain that an authority presents from now on. */
export interface CrossSigned {
  readonly authority: InstanceAuthority;
  readonly subject: string;
  readonly issuer: string;
  readonly root: string;
  /** When the first of the chain ends. */
  readonly expires_at: string;
  /** Certificates of the instance's servers that the chain does not hold for, and why: make those anew. */
  readonly unfit: readonly { readonly serial_number: string; readonly common_name: string; readonly reason: string }[];
}

/**
 * How an authority of the instance comes below a CA of somebody else (RFC 5280, 3.2: a cross-certificate). Its key, its name and its own self-signed
 * certificate stay, so that whoever pinned that one goes on; whoever trusts the other CA trusts it by the certificate that this one signed.
 */
export interface CrossSigning {
  /** PEM, PKCS#10: what the other CA is asked to sign, with the key and the name of the authority. */
  request(unit: GatewayUnit, authority: InstanceAuthority): Promise<string>;
  /**
   * Takes what the other CA signed, PEM, with those above it up to its root. Throws `ca_chain_refused` for any chain below which what the
   * authority signs would not be valid. `issued`: the certificates of the instance's servers.
   */
  accept(
    unit: GatewayUnit,
    authority: InstanceAuthority,
    given: { readonly chain: string; readonly issued: readonly CertificateRecord[] },
  ): Promise<CrossSigned>;
}

const HOUR = 3_600_000;

/** Cross-signing of the instance's own authorities. */
export function crossSigning(needs: AuthorityNeeds): CrossSigning {
  const { crypto, random } = needs;

  /** A certificate as the authority makes them, with those between it and the authority. Nobody gets its key. */
  const sample = async (issuer: Issuer, authority: InstanceAuthority, now: number): Promise<readonly Certificate[]> => {
    const leaf = (below: Issuer, purpose: "clientAuth" | "serverAuth") =>
      issueCertificate(crypto, below, {
        serial: newSerial(random),
        subject: [{ type: "CN", value: "sample" }],
        publicKey: publicKeyOf(crypto, newPrivateKey(crypto, "p256", random)),
        notBefore: now,
        notAfter: now + HOUR,
        extensions: { keyUsage: ["digitalSignature"], extendedKeyUsage: [purpose] },
      });
    if (authority === "servers") return [await leaf(issuer, "serverAuth")];
    const signer = localSigner(crypto, newPrivateKey(crypto, "p256", random));
    const certificate = await certifyOrganization(needs, issuer, { org: "sample", key: signer.publicKey, now });
    return [await leaf({ certificate, signer }, "clientAuth"), certificate];
  };

  return {
    async request(unit, authority) {
      const { certificate, signer } = await instanceAuthority(needs, unit, authority);
      const { subject, extensions } = certificate;
      const { ca, keyUsage, subjectKeyId } = extensions;
      return requestPem(
        await createRequest(signer, {
          subject,
          ...(ca && { ca }),
          ...(keyUsage && { keyUsage }),
          ...(subjectKeyId && { subjectKeyId }),
        }),
      );
    },
    async accept(unit, authority, { chain: pem, issued }) {
      const { now } = unit.call;
      const issuer = await instanceAuthority(needs, unit, authority);
      const chain = read(pem);
      const [crossed] = chain;
      const root = chain.at(-1);
      if (crossed === undefined || root === undefined || chain.length < 2)
        throw refused("too_short", "a chain is the certificate that the other CA signed, then those above it up to its root");
      if (!bytesEqual(crossed.publicKey.spki, issuer.certificate.publicKey.spki))
        throw refused("other_key", "the first certificate is of another key than the authority's");
      if (!bytesEqual(crossed.subjectDer, issuer.certificate.subjectDer))
        throw refused(
          "other_name",
          `the first certificate names ${nameText(crossed.subject)}: it must be ${nameText(issuer.certificate.subject)}, as the request says`,
        );
      const [own, theirs] = [issuer.certificate, crossed].map(({ extensions }) => extensions.subjectKeyId);
      // What the authority signed names it by this identifier, and relying parties hold it against that of the issuer (RFC 5280, 4.2.1.1).
      if (own !== undefined && theirs !== undefined && !bytesEqual(own, theirs))
        throw refused(
          "other_key_identifier",
          `the first certificate's subject key identifier must be that of the request, ${Buffer.from(own).toString("hex")}, or absent`,
        );
      if (!bytesEqual(root.subjectDer, root.issuerDer))
        throw refused("no_root", `the last certificate, ${nameText(root.subject)}, is not a root`);
      if (
        chain.some(
          (child, i) => chain[i + 1] !== undefined && !bytesEqual(child.issuerDer, (chain[i + 1] as Certificate).subjectDer),
        )
      )
        throw refused("out_of_order", "each certificate of the chain is followed by that of its issuer");
      const judge = ([leaf, ...between]: readonly Certificate[]) =>
        leaf === undefined
          ? "untrusted"
          : reasonOf(
              verifyChain(crypto, leaf, {
                intermediates: [...between, ...chain.slice(0, -1)],
                roots: [root],
                now,
                purpose: authority === "servers" ? "serverAuth" : "clientAuth",
              }),
            );
      const reason = judge(await sample(issuer, authority, now));
      if (reason !== undefined)
        throw refused(reason, `what the authority signs would not be valid below this chain: ${reason.replaceAll("_", " ")}`);
      const id = instanceAuthorities[authority];
      const stored = await unit.get(authorities, id);
      if (stored === undefined) throw new Error(`the authority ${id} is gone`);
      unit.put(authorities, id, { ...stored, cross_signed: chain.map(certificatePem).join("") });
      const expires_at = timestamp(Math.min(...chain.map(({ notAfter }) => notAfter)));
      const metadata = { authority, serial_number: crossed.serialText, issuer: nameText(crossed.issuer), expires_at };
      unit.record({ type: "certificate.authority.cross_sign", metadata });
      const unfit = issued.flatMap(({ serial_number, common_name, certificate, status, expiration }) => {
        if (authority !== "servers" || status !== "active" || Date.parse(expiration) <= now) return [];
        const why = judge([parseCertificate(certificate)]);
        return why === undefined ? [] : [{ serial_number, common_name, reason: why }];
      });
      return {
        authority,
        subject: nameText(crossed.subject),
        issuer: nameText(crossed.issuer),
        root: nameText(root.subject),
        expires_at,
        unfit,
      };
    },
  };
}

function read(pem: string): readonly Certificate[] {
  try {
    return parseCertificates(pem);
  } catch (error) {
    throw refused("unreadable", "the chain cannot be read: it is PEM, certificate after certificate", error);
  }
}

function refused(reason: string, message: string, cause?: unknown): CodedError {
  return new CodedError("ca_chain_refused", message, { reason }, cause);
}

function reasonOf(decision: ChainDecision): string | undefined {
  return decision.valid ? undefined : decision.reason;
}
