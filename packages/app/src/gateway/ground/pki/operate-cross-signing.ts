import { checkArgument } from "@seneschal/kernel";
import { instanceStream } from "../audit/event.ts";
import { systemCall } from "../call.ts";
import type { GroundServices } from "../services.ts";
import { every } from "../store/every.ts";
import { type CertificateRecord, certificates, type InstanceAuthority } from "./collections.ts";
import type { CrossSigned } from "./cross-signing.ts";

/** What another CA is asked to sign for an authority, as the operator of the instance. */
export function requestCrossSigning(services: GroundServices, authority: InstanceAuthority, now: number): Promise<string> {
  checkArgument("services", services, "object");
  checkArgument("authority", authority, "string");
  return services.transact(systemCall("system:operator", instanceStream, now), (unit) =>
    services.pki.crossSigning.request(unit, authority),
  );
}

/** Takes what the other CA signed, as the operator of the instance. */
export async function acceptCrossSigned(
  services: GroundServices,
  given: { readonly authority: InstanceAuthority; readonly chain: string; readonly now: number },
): Promise<CrossSigned> {
  checkArgument("services", services, "object");
  checkArgument("given", given, "object");
  const { authority, chain, now } = given;
  const issued: CertificateRecord[] = [];
  for await (const record of every(services, certificates, "by_subject", [services.instance, "server"])) issued.push(record);
  return services.transact(systemCall("system:operator", instanceStream, now), (unit) =>
    services.pki.crossSigning.accept(unit, authority, { chain, issued }),
  );
}
