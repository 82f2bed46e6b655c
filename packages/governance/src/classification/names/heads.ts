/** What data about a thing are called: in `password_policy` and `email_sent_at` the last word is the head, and what the column holds; the first says of what. */
const ARTEFACTS = setOf(
  "policy rule template format pattern regex regexp mask url link page form screen button label tooltip placeholder icon image config configuration setting setup option preference pref version schema table doc docs documentation api endpoint queue job service script dashboard campaign currency algorithm algo property encoding",
);
const MEASURES = setOf(
  "at time timestamp datetime date day days month hour minute second ttl expiry expire expired expiration until since effective due review changed change updated modified created sent opened open clicked click delivered delivery bounced bounce received seen verified verification confirmed confirmation validated validation valid checked check status state flag ind indicator enabled disabled active required optional allowed visible hidden consent subscribed subscription notification notifications notify reminder age count quantity total limit max min length len size strength complexity score rate ratio percent percentage utilization attempt attempts failure failures tries retry retries frequency interval type kind category class brand network issuer provider domain server port model os plan price app subject method mode source campaign history reset event batch export import error template industry requirement exists present missing set",
);
/** Last words that make the thing itself of whatever stands between: `wage_type_amount`. */
const VALUES = setOf("amount value hash digest raw");
/** The words before that ask whether or how many. */
const ASKS = setOf(
  "is has had have can should must need needs require requires allow allows enable disable show hide skip use send verify validate count nb n total avg average max min missing valid invalid no without last4",
);

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

/** Entities of which it is as telling that or since when somebody has them as what they are: GDPR Article 9 and 10. */
const SPECIAL = setOf(
  "HEALTH_DATA PATIENT_ID BIOMETRIC_DATA GENETIC_DATA RELIGION SEXUAL_ORIENTATION UNION_MEMBERSHIP POLITICAL_OPINION ETHNICITY CRIMINAL_RECORD",
);

/** Heads that say what part of the thing it is, by entity. */
const PARTS: Readonly<Record<string, ReadonlySet<string>>> = {
  PASSWORD: setOf("history reset"),
  API_KEY: setOf("reset"),
  DATE_OF_BIRTH: setOf("date day time timestamp datetime month at"),
  BIRTH_YEAR: setOf("date day month at"),
  AGE: setOf("day days month class category"),
  SALARY: setOf("month day hour rate total max min history class"),
  STREET_ADDRESS: setOf("state"),
  GEO_LOCATION: setOf("history"),
  BIOMETRIC_DATA: setOf("template"),
  IP_ADDRESS: setOf("history source"),
  BANK_CARD_EXPIRY: setOf("expiry expire expired expiration date month"),
  CREDIT_CARD: setOf("total limit"),
  MARITAL_STATUS: setOf("status state"),
  JOB_TITLE: setOf("class"),
};
/** Words before that count of what is a number itself, and that are part of others. */
const FIGURES = setOf("total avg average max min");

/**
 * True for a name that is only about what it names: by its last words, or by a question at its start (`is_password_set`, `num_emails`). Of special categories only where a document or a setting is meant:
 * whether, since when and how often somebody is ill is data about the illness.
 */
export function isOnlyAbout(entity: string, before: readonly string[], after: readonly string[]): boolean {
  const parts = PARTS[entity];
  // `date of password change`, `tipo de correo`: what it is stands before `of`.
  const of = before.lastIndexOf("of");
  const heads = [...after.filter((word) => !parts?.has(word)), ...before.slice(0, Math.max(0, of))];
  if (heads.some((word) => ARTEFACTS.has(word))) return true;
  if (SPECIAL.has(entity)) return false;
  if (heads.some((word) => MEASURES.has(word)) && !VALUES.has(after.at(-1) ?? "")) return true;
  const [first = "", second = ""] = before;
  if (ASKS.has(first)) return !(entity === "SALARY" && FIGURES.has(first));
  if (first === "number") return second === "of" || !NUMBERED.has(entity);
  return false;
}
const NUMBERED = setOf(
  "PHONE_NUMBER NATIONAL_ID TAX_ID PASSPORT_NUMBER DRIVER_LICENSE CREDIT_CARD BANK_ACCOUNT IBAN_CODE US_SSN PATIENT_ID VEHICLE_REGISTRATION VEHICLE_ID BANK_CARD_EXPIRY",
);
