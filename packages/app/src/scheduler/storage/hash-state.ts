import { createHash } from "node:crypto";
import { nextTurn } from "@seneschal/adapters/system";
import { encodePieces, type QuotaState } from "@seneschal/quota";

/** The state's hash (`stateHash` of the quota package), while the process goes on with other work between two pieces. */
export async function hashState(state: QuotaState): Promise<string> {
  const hash = createHash("sha256");
  for (const piece of encodePieces(state)) {
    hash.update(piece);
    await nextTurn();
  }
  return hash.digest("hex");
}
