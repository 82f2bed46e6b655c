import type { AnyCollection } from "../ground/index.ts";
import { ceremonies, ceremonyShares } from "./ceremonies/collections.ts";
import { ceremonyHandlers } from "./ceremonies/handlers.ts";
import { crkHandlers } from "./crk/handlers.ts";
import { custodians } from "./custodians/collections.ts";
import { custodianHandlers } from "./custodians/handlers.ts";
import { custodyCeremonies, custodyEntries, custodyParts } from "./custody-ceremonies/collections.ts";
import { custodyCeremonyHandlers } from "./custody-ceremonies/handlers.ts";
import { dealtEntries, dealtTranscripts } from "./dealt-transcripts/collections.ts";
import { encryptedShares, generationCeremonies, heldKeys } from "./generation-ceremonies/collections.ts";
import { generationCeremonyHandlers } from "./generation-ceremonies/handlers.ts";
import { recoveries, recoveryShares } from "./recovery/collections.ts";
import { recoveryHandlers } from "./recovery/handlers.ts";
import { signingRequestHandlers } from "./signing-requests/handlers.ts";
import { signingSessions } from "./signing-sessions/collections.ts";
import { signingSessionHandlers } from "./signing-sessions/handlers.ts";

export const custodyHandlers = {
  ...crkHandlers,
  ...ceremonyHandlers,
  ...generationCeremonyHandlers,
  ...custodianHandlers,
  ...custodyCeremonyHandlers,
  ...signingRequestHandlers,
  ...signingSessionHandlers,
  ...recoveryHandlers,
};

export const custodyCollections: readonly AnyCollection[] = [
  ceremonies,
  custodians,
  custodyCeremonies,
  custodyEntries,
  custodyParts,
  dealtEntries,
  dealtTranscripts,
  encryptedShares,
  generationCeremonies,
  heldKeys,
  ceremonyShares,
  recoveries,
  recoveryShares,
  signingSessions,
];
