import { ceremonyHandlers } from "./ceremonies.ts";
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
