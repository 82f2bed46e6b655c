export { decodeAsciiJson, encodeAsciiJson } from "./ascii-json.ts";
export { checkEntry, decodeEntry, emptyHead, encodeEntry, entryVersion, type Sha256 } from "./entry.ts";
export type { Machine } from "./machine.ts";
export {
  maxBatch,
  openReplicated,
  type Proposed,
  type Replicated,
  type ReplicatedHealth,
  type ReplicatedOptions,
} from "./open-replicated.ts";
export { type Receipt, Receipts, type ReceiptWindow } from "./receipts.ts";
export { type Remembering, rememberCommands } from "./remember-commands.ts";
export { type Applied, type Judged, type Judgement, type Position, type Replica, replicaOf } from "./replica.ts";
export { sortedJson } from "./sorted-json.ts";
