import type { AnyCollection } from "../ground/index.ts";
import { ceremonyHandlers } from "./ceremonies.ts";
import {
  ceremonies,
  ceremonyShares,
  custodians,
  custodyCeremonies,
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
import { crkHandlers } from "./crk.ts";
import { custodianHandlers } from "./custodians.ts";
import { custodyCeremonyHandlers } from "./custody-ceremonies.ts";
import { generationCeremonyHandlers } from "./generation-ceremonies.ts";
import { recoveryHandlers } from "./recovery.ts";
import { signingRequestHandlers } from "./signing-requests.ts";
import { signingSessionHandlers } from "./signing-sessions.ts";

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
