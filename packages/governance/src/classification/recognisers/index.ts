import { prose } from "../prose/index.ts";
import type { Recogniser } from "../search/recogniser.ts";
import { addresses, positions } from "./addresses.ts";
import { asia } from "./asia.ts";
import { clinical } from "./clinical.ts";
import { commonwealth } from "./commonwealth.ts";
import { credentials } from "./credentials.ts";
import { dates } from "./dates.ts";
import { europe } from "./europe.ts";
import { generic } from "./generic.ts";
import { germany } from "./germany.ts";
import { international } from "./international.ts";
import { ip } from "./ip.ts";
import { named } from "./named.ts";
import { passports } from "./passports.ts";
import { phones } from "./phones.ts";
import { quasi } from "./quasi.ts";
import { records } from "./records.ts";
import { spokenSecrets } from "./spoken-secrets.ts";
import { uk } from "./uk.ts";
import { us } from "./us.ts";

/** Every recogniser that ships. */
export const DEFAULT_RECOGNISERS: readonly Recogniser[] = [
  ...credentials,
  ...spokenSecrets,
  ...records,
  ...generic,
  ...ip,
  ...dates,
  ...quasi,
  ...prose,
  ...clinical,
  ...addresses,
  positions,
  ...phones,
  ...us,
  ...uk,
  ...germany,
  ...europe,
  ...asia,
  ...commonwealth,
  ...passports,
  ...international,
  ...named,
];
