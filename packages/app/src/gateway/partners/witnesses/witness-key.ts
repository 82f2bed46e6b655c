import type { NoteKey } from "@seneschal/crypto/merkle";
import { vaultName } from "../../ground/index.ts";

/** An organisation as a witness: its bundle signing key, which its federation certificate vouches for, under a name of its own. */
export function witnessKeyOf(org: string, signing: Uint8Array): NoteKey {
  return { name: `seneschal.witness/${vaultName(org)}`, publicKey: signing };
}
