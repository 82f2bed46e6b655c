import { pathToFileURL } from "node:url";
import { fileStamp } from "@seneschal/adapters/files";
import { type CertificateIdentity, openRevocations } from "@seneschal/adapters/tls";
import type { CryptoProvider } from "@seneschal/kernel/ports";

/** The revocation list of a file, as it is at this moment. */
export interface RevocationFile {
  /** Throws when it cannot be known: the file is away, unreadable, unsigned, or out of date. */
  isRevoked(identity: Pick<CertificateIdentity, "der">): Promise<boolean>;
}

/**
 * Watches the file by asking for its state on every check: a list that was replaced is in force for the next call, one that was
 * taken away or spoiled lets nobody in, whatever was read before.
 */
export function openRevocationFile(
  path: string,
  options: { readonly trustedCa: string; readonly now: () => number; readonly provider: CryptoProvider },
): RevocationFile {
  const lists = openRevocations({ ...options, url: pathToFileURL(path).href });
  let loaded: string | undefined;
  let loading: { readonly stamp: string; readonly done: Promise<void> } | undefined;

  const load = (stamp: string): Promise<void> => {
    if (loading?.stamp !== stamp) {
      const done = lists.refresh().then(() => {
        loaded = stamp;
      });
      const own = { stamp, done };
      loading = own;
      done
        .catch(() => undefined)
        .finally(() => {
          if (loading === own) loading = undefined;
        });
    }
    return loading?.done ?? Promise.resolve();
  };

  return {
    async isRevoked(identity) {
      const stamp = await fileStamp(path);
      if (loaded !== stamp) await load(stamp);
      return lists.isRevoked(identity);
    },
  };
}
