export { endCeremony } from "./ceremonies.ts";
export {
  ceremonies,
  ceremonyShares,
  custodians,
  custodyCeremonies,
  custodyCollections,
  custodyEntries,
  custodyParts,
  dealtEntries,
  dealtTranscripts,
  encryptedShares,
  generationCeremonies,
  heldKeys,
  recoveries,
  recoveryShares,
  signingSessions,
} from "./collections.ts";
export { requireHolder, sharedCard } from "./custodians.ts";
export { endCustodyCeremony } from "./custody-ceremonies.ts";
export { type Dealing, storeNewCrk } from "./deal-crk.ts";
export { endGeneration } from "./generation-ceremonies.ts";
export { expireRecovery } from "./recovery.ts";
export { custodyHandlers } from "./resources.ts";
export type { CustodyServices } from "./services.ts";
