import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { openRevocations, type Revocations } from "@seneschal/adapters/tls";
import type { AuthSettings, Platform } from "../platform/index.ts";

/**
 * The lists of `auth.mtls.crl_url`, signed by the CAs of `auth.mtls.trusted_ca`; `undefined` when none are configured.
 * Connections of a serial that a new list adds are dropped.
 */
export async function revocationLists(
  { mtls }: AuthSettings,
  platform: Platform,
): Promise<(Revocations & { close(): void }) | undefined> {
  const { crl_url, crl_refresh, trusted_ca } = mtls;
  if (!mtls.enabled || crl_url === undefined || trusted_ca === undefined) return undefined;
  const lists = openRevocations({
    url: crl_url,
    trustedCa: await readFile(trusted_ca, "utf8"),
    now: () => platform.clock.now(),
    provider: nodeCrypto,
    onRevoked: (serials) => {
      const gone = new Set(serials);
      platform.server()?.destroySockets((peer) => peer !== undefined && gone.has(serialOf(peer.der)));
    },
  });
  const refresh = (): Promise<void> => lists.refresh();
  await platform.background.step("revocation lists", refresh);
  const refreshing = platform.background.every("revocation lists", crl_refresh, refresh);
  return { ...lists, close: () => void refreshing.stop() };
}

/** Lower-case hex with colons. */
function serialOf(der: Uint8Array): string {
  const digits = new X509Certificate(der).serialNumber.toLowerCase();
  return (digits.match(/../g) ?? []).join(":");
}
