import { isRenewalDue } from "@seneschal/core/keys";
import { bytesEqual } from "@seneschal/crypto";
import { certificatePem, nameValue, parseCertificates } from "@seneschal/crypto/x509";
import { certificates, instanceStream, systemCall } from "./ground/index.ts";
import type { GatewayServices } from "./services.ts";

/**
 * Renews a certificate of one of the instance's own ports (PEM, with what stands behind it), if this instance's server CA made it, nobody revoked it and its end is
 * near: the same key, names and lifetime. One that is not due gets what is to stand behind it now. `undefined`: it is left as it is.
 */
export async function renewServerCertificate(services: GatewayServices, pem: string, now: number): Promise<string | undefined> {
  const [old, ...behind] = parseCertificates(pem);
  if (old === undefined) return undefined;
  const { instance } = services;
  return services.transact(systemCall("system:server", instanceStream, now), async (unit) => {
    const known = await unit.get(certificates, old.serialText);
    if (known?.subject_type !== "server" || known.subject_id !== instance || known.status !== "active") return undefined;
    const [issued] = parseCertificates(known.certificate);
    if (issued === undefined || !bytesEqual(issued.der, old.der)) return undefined;
    if (!isRenewalDue(old, now)) {
      const chain = (await services.pki.serverChain(unit)).join("");
      return chain === behind.map(certificatePem).join("") ? undefined : known.certificate + chain;
    }
    const renewed = await services.pki.issueServerForKey(
      unit,
      {
        org: instance,
        commonName: nameValue(old.subject, "CN") ?? "localhost",
        subject: { type: "server", id: instance },
        ttl: old.notAfter - old.notBefore,
        altNames: old.extensions.subjectAltNames ?? [],
      },
      old.publicKey,
    );
    unit.record({
      type: "certificate.issue",
      metadata: { serial_number: renewed.serial_number, subject_type: "server", renews: old.serialText },
    });
    return renewed.certificate + renewed.ca_chain.join("");
  });
}
