import type { BringShares } from "@seneschal/app";
import { CodedError } from "@seneschal/kernel";
import type { Host } from "../host.ts";

/** Asks the people at this terminal for unseal key shares, without echo, until the vault opens. Throws `usage` for an empty answer. */
export function bringShares(host: Host): BringShares {
  return async (vault) => {
    for (;;) {
      const now = Date.now();
      const { sealed, progress, t, nonce } = await vault.state(now);
      if (!sealed) return vault.opened;
      const key = await askShare(host, `${progress + 1} of ${t}`);
      const attempt = nonce === "" ? {} : { nonce };
      await vault.unseal({ key, ...attempt, now, address: "this terminal", requestId: "" });
    }
  };
}

/** One share, typed without echo or from a pipe. */
export async function askShare(host: Host, which: string): Promise<string> {
  const key = (await host.askSecret(`unseal key share ${which}: `)).trim();
  if (key === "") throw new CodedError("usage", "an unseal key share is needed");
  return key;
}
