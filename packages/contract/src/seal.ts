import * as z from "zod";
import { contract } from "./contract.ts";

const tag = { tag: "seal", auth: "public", status: 200, extension: true } as const;
const key = z.string().min(1).max(1024).describe("an unseal key share");

/** How a vault is sealed, and how far its operators are; the names are those of Vault's `sys/seal-status`. */
const sealStatus = z
  .object({
    type: z.enum(["key_file", "passphrase", "shamir", "transit", "pkcs11"]),
    initialized: z.boolean().describe("the vault was made"),
    sealed: z.boolean(),
    t: z.int().describe("threshold: so many shares open it; 1 where no shares do"),
    n: z.int().describe("shares that were dealt; 1 where none were"),
    progress: z.int().describe("right shares that came in the attempt under way; which, is told to nobody"),
    nonce: z.string().describe("of the attempt under way, or empty"),
    version: z.string(),
  })
  .meta({ id: "SealStatus" });

export type SealStatus = z.output<typeof sealStatus>;

/**
 * The seal of a service's embedded vault: of a sealed process the only routes beside its probes. Whoever brings a share shows by it to be
 * an operator; there is nobody else who could be asked while the vault is sealed.
 */
export const sealContract = contract({
  sealStatus: {
    ...tag,
    method: "GET",
    path: "/sys/seal-status",
    summary: "How the vault is sealed",
    uncounted: true,
    reply: sealStatus,
  },
  unseal: {
    ...tag,
    method: "POST",
    path: "/sys/unseal",
    summary: "Gives one unseal key share to the attempt under way, or begins one; a wrong share ends it",
    body: z.strictObject({ key, nonce: z.string().min(1).max(64).optional().describe("of the attempt under way") }),
    reply: sealStatus,
    errors: [409, 422],
  },
  seal: {
    ...tag,
    method: "POST",
    path: "/sys/seal",
    summary: "Seals the vault: any one operator may",
    body: z.strictObject({ key }),
    reply: sealStatus,
    errors: [409, 422],
  },
});
