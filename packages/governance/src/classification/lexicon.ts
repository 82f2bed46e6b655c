import { checkArgument } from "@seneschal/kernel";
import { inLexiconEnglish } from "./name-words.ts";

/** What a name (of a column, a key, or in a request) says about the data behind it. */
export interface LexiconTerm {
  readonly entity: string;
  /** Shown in reasons and told apart in column results. */
  readonly term: string;
  /** Over the words of the name, singular, in lower case, joined by blanks. */
  readonly match: RegExp;
  /** Names that match but mean something else. */
  readonly unless?: RegExp;
  /** What values of such a column look like, if that can be told. */
  readonly value?: RegExp;
  /** Few different values: a category. */
  readonly category?: boolean;
  /** Only where the table or data set is about people. */
  readonly personal?: boolean;
}

const counts =
  /^(?:num|nb|n|count|number of|no of|total|avg|average|max|min|has|is|last(?! name)|first seen)\b|\b(?:count|type|kind|status|flag|verified|verification|sent|opened|template|domain|provider|brand|network|issuer|limit|score|rate|ratio|utilization|version|changed|changed at|updated at|reset at|expires at|expiry|length)$/;
const name = /^[\p{L}][\p{L}'’.-]*(?: [\p{L}][\p{L}'’.-]*){0,4}$/u;

/** Built-in terms, most specific first: the first that matches names the column. */
export const LEXICON: readonly LexiconTerm[] = [
  {
    entity: "PASSWORD",
    term: "password",
    match: /\b(?:password|passwd|pwd|passphrase|password hash|secret question|security answer)\b/,
    unless: counts,
  },
  {
    entity: "API_KEY",
    term: "api key",
    match:
      /\b(?:api key|apikey|access key|secret key|client secret|auth token|access token|refresh token|session token|oauth token|api secret|auth secret|app secret|private key|bearer token)\b/,
    unless: counts,
  },
  {
    entity: "CREDIT_CARD",
    term: "card verification code",
    match: /\b(?:cvv2?|cvc2?|cc cvc|card security code|card verification)\b/,
  },
  {
    entity: "BANK_CARD_EXPIRY",
    term: "card expiry",
    match: /\b(?:cc|card|credit card)\b.*\b(?:exp|expiry|expiration|expire|expiredate|exp date)\b/,
  },
  {
    entity: "CREDIT_CARD",
    term: "card number",
    match:
      /\b(?:credit card|debit card|credit debit card|card number|card num|card no|cc num|cc number|cc no|ccn|ccnum|cardnum|cardnumber|payment card|pan number|creditcard)\b|^(?:cc|card|credit card)$/,
    unless: counts,
    value: /^[\d -]{12,25}$/,
  },
  {
    entity: "US_SSN",
    term: "social security number",
    match: /\b(?:ssn|social security|social sec num|soc sec|ssno)\b/,
    unless: counts,
    value: /^\d{3}[- ]?\d{2}[- ]?\d{4}$/,
  },
  { entity: "US_ITIN", term: "taxpayer id", match: /\b(?:itin|taxpayer id)\b/ },
  {
    entity: "TAX_ID",
    term: "tax id",
    match: /\b(?:tax id|tax number|tin|vat id|fiscal code|steuer id|tfn|tax file number)\b/,
    unless: counts,
  },
  {
    entity: "NATIONAL_ID",
    term: "national id",
    match:
      /\b(?:national id|national identity|identity card|id card|nino|national insurance|social insurance|aadhaar|aadhar|pesel|personnummer|nric|citizen id|government id|voter id|id number|identity number)\b/,
    unless: counts,
  },
  { entity: "PASSPORT_NUMBER", term: "passport", match: /\b(?:passport)\b/, unless: counts },
  {
    entity: "DRIVER_LICENSE",
    term: "driving licence",
    match: /\b(?:driver|driving|drivers) (?:s )?(?:license|licence|lic)\b|\b(?:dl number|dl num|dl no)\b/,
    unless: counts,
  },
  { entity: "IBAN_CODE", term: "iban", match: /\b(?:iban)\b/, unless: counts, value: /^[A-Z]{2}\d{2}[A-Z0-9 ]{8,38}$/i },
  {
    entity: "BANK_ACCOUNT",
    term: "bank account",
    match:
      /\b(?:bank account|account number|account num|account no|acct num|acct no|acct number|bank acct|routing number|sort code|bban)\b/,
    unless: counts,
  },
  {
    entity: "SALARY",
    term: "pay",
    match: /\b(?:salary|wage|compensation|income|payroll|bonus|remuneration|inhand salary|net worth)\b/,
    unless: /\bper capita\b|\bcount$/,
  },
  {
    entity: "PATIENT_ID",
    term: "patient id",
    match:
      /\b(?:patient id|patient number|mrn|medical record|mbr id|member id|health card|nhs number|medicare number|beneficiary id|subscriber id|insurance number|health insurance)\b/,
  },
  {
    entity: "HEALTH_DATA",
    term: "health",
    match:
      /\b(?:diagnosis|diagnose|diagnostic code|icd|icd10|icd 10|medication|prescription|prescribed|drug name|allergy|symptom|treatment|disease|illness|medical history|medical condition|health record|health status|health condition|blood type|blood group|blood pressure|lab result|test result|disability|pregnant|pregnancy|hiv|cancer|diabetes?|diabetic|mental health|therapy|vaccination|patient note|clinical note|medical record|medical data|health data)\b/,
  },
  {
    entity: "BIOMETRIC_DATA",
    term: "biometrics",
    match: /\b(?:biometric|fingerprint|iris scan|retina|face template|faceprint|voiceprint|face embedding)\b/,
  },
  { entity: "GENETIC_DATA", term: "genetics", match: /\b(?:genetic|genome|genomic|dna|genotype|dna sequence)\b/ },
  { entity: "RELIGION", term: "religion", match: /\b(?:religion|religious|faith|denomination)\b/ },
  { entity: "SEXUAL_ORIENTATION", term: "sexual orientation", match: /\b(?:sexual orientation|sexual preference|sexuality)\b/ },
  {
    entity: "UNION_MEMBERSHIP",
    term: "union membership",
    match: /\b(?:union member|union membership|trade union|labor union|labour union)\b/,
  },
  {
    entity: "POLITICAL_OPINION",
    term: "politics",
    match: /\b(?:political|political party|party affiliation|political opinion|vote for)\b/,
  },
  {
    entity: "ETHNICITY",
    term: "ethnicity",
    match: /\b(?:ethnicity|ethnic|race|racial)\b/,
    unless: /\brace (?:time|condition|result|id|track)\b/,
  },
  {
    entity: "EMAIL_ADDRESS",
    term: "email",
    match: /\b(?:email|e mail|email address|mail address|emailaddr)\b|^mail$/,
    unless: counts,
    value: /^[^\s@]{1,64}@[^\s@]{1,255}$/,
  },
  {
    entity: "PHONE_NUMBER",
    term: "phone",
    match: /\b(?:phone|telephone|mobile|cell|cellphone|fax|phone number|tel|msisdn|mobile number|contact number|phonenumber)\b/,
    unless:
      /\b(?:type|model|brand|plan|price|app|count|os|os version|device|hotel|tower|verified)\b|\bcell (?:type|line|value|id)\b/,
    value: /^[+(]?[\d][\d ()./+x-]{5,24}$/i,
  },
  {
    entity: "MAC_ADDRESS",
    term: "mac address",
    match: /\b(?:mac address|mac addr|macaddr|macaddress)\b/,
    value: /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i,
  },
  {
    entity: "IP_ADDRESS",
    term: "ip address",
    match: /\b(?:ip|ip address|ip addr|ipaddr|ipv4|ipv6|ipaddress|client ip|remote addr|source ip|dest ip)\b/,
    unless: counts,
    value: /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:]{2,39}(?:\.\d{1,3}){0,3})(?:\/\d{1,3})?$/i,
  },
  {
    entity: "VEHICLE_ID",
    term: "vin",
    match: /\b(?:vin|vehicle identification|vehicle id number|chassis number)\b/,
    value: /^[A-HJ-NPR-Z0-9]{11,17}$/i,
  },
  {
    entity: "VEHICLE_REGISTRATION",
    term: "vehicle plate",
    match: /\b(?:license plate|licence plate|number plate|plate number|plate no|plate num|registration plate)\b/,
  },
  {
    entity: "DATE_OF_BIRTH",
    term: "date of birth",
    match: /\b(?:dob|birthdate|birth date|date of birth|birthday|birth dt|dateofbirth|born on)\b/,
    unless: /\bplace\b/,
  },
  {
    entity: "BIRTH_YEAR",
    term: "part of a birth date",
    match: /\b(?:birth year|birth month|year of birth|yob|birth place|place of birth)\b/,
  },
  {
    entity: "STREET_ADDRESS",
    term: "street address",
    match:
      /\b(?:street address|home address|mailing address|postal address|billing address|shipping address|residential address|delivery address|street addr|address line 1|address line|addr line|address1|addr1|home addr|customer address|address 1)\b|^(?:address|addr|full address|street)$/,
    unless: /\b(?:second|secondary|alternate|2|3|id|type|ip|mac|email|web|wallet|key|count)\b/,
    value: /^(?=.*\d)(?=.*\p{L}).{6,}$/u,
  },
  {
    entity: "STREET_ADDRESS",
    term: "part of an address",
    match: /\b(?:second address|address 2|address line 2|address2|apartment|street name|street number|house number)\b/,
  },
  {
    entity: "GEO_LOCATION",
    term: "position",
    match: /\b(?:latitude|longitude|lat lon|lat long|lat lng|geolocation|gps|home location|coordinate)\b|^(?:lat|lng|lon|long)$/,
  },
  {
    entity: "PERSON",
    term: "full name",
    match:
      /\b(?:full name|fullname|customer name|patient name|employee name|person name|member name|client name|contact name|cardholder name|spouse name|mother name|father name|child name|guardian name|next of kin name|cardholder|account holder|legal name|display name|real name|student name|applicant name|passenger name|guest name)\b|^(?:person)$/,
    unless: /\b(?:id|count|type)$/,
    value: name,
  },
  {
    entity: "PERSON",
    term: "part of a name",
    match:
      /\b(?:first name|last name|middle name|maiden name|surname|given name|family name|firstname|lastname|fname|lname|forename|nickname|host name of person)\b/,
    unless: new RegExp(`${counts.source}|\\bthe given name`),
  },
  { entity: "PERSON", term: "name", match: /^name$/, personal: true, value: name },
  {
    entity: "USERNAME",
    term: "user name",
    match: /\b(?:username|user name|login|user login|screen name|(?:twitter|instagram|social|user|screen) handle)\b/,
    unless: /\b(?:count|time|date|at|attempt|event|page|url)\b|^last login$/,
  },
  {
    entity: "GENDER",
    term: "gender",
    match: /\b(?:gender|sex)\b/,
    unless: counts,
    value: /^[\p{L}][\p{L} -]{0,20}$/u,
    category: true,
  },
  {
    entity: "AGE",
    term: "age",
    match: /\bage\b/,
    unless: /\b(?:history age|account age|page|days|months|vehicle age|building age|house age|credit history|file age|cache)\b/,
    value: /^\d{1,3}(?:\.\d+)?_?(?:\s*(?:years?|yrs?|to|-|and|\+)\s*(?:\d{1,3}|older|over|old|under|younger)?)?$/i,
  },
  { entity: "MARITAL_STATUS", term: "marital status", match: /\b(?:marital|marital status)\b/ },
  { entity: "NATIONALITY", term: "nationality", match: /\b(?:nationality|citizenship|country of birth)\b/ },
  {
    entity: "ZIP_CODE",
    term: "postal code",
    match: /\b(?:zip|zipcode|zip code|postal code|postcode|plz|post code)\b/,
    unless: /\bfile\b|\bincome\b/,
  },
  { entity: "CITY", term: "city", match: /\b(?:city|town|hometown)\b/, unless: counts },
  { entity: "JOB_TITLE", term: "occupation", match: /\b(?:job title|occupation|profession)\b/ },
  { entity: "CRYPTO", term: "wallet", match: /\b(?:wallet address|btc address|bitcoin address|crypto wallet|eth address)\b/ },
];

/** Words that say that a table or data set is about people. */
const PEOPLE = new Set(
  "person people customer client patient employee user member student subscriber applicant candidate passenger guest contact citizen voter staff worker teacher doctor household profile lead visitor donor resident driver beneficiary cardholder borrower tenant payee insured claimant hr crm".split(
    " ",
  ),
);

/** Things of a business: asking about them is internal, not public. */
const BUSINESS = new Set(
  "order sale revenue invoice account product contract project budget payment transaction shipment supplier vendor inventory signup subscription campaign ticket claim policy loan deal forecast report pipeline margin profit cost expense payroll warehouse table record dataset database row metric kpi".split(
    " ",
  ),
);

/** The words of a name: snake_case, camelCase and blanks apart, lower case, singular. */
export function wordsOf(text: string): string[] {
  checkArgument("text", text, "string");
  return text
    .replace(/\b([A-Z]{2,})s\b/g, "$1")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map(singular);
}

/** English singular by rule; good enough to match a lexicon. */
function singular(word: string): string {
  if (word.length < 4 || word.endsWith("ss") || word.endsWith("us") || word.endsWith("is")) return word;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|diagnos)es$/.test(word)) return word.endsWith("diagnoses") ? `${word.slice(0, -2)}is` : word.slice(0, -2);
  return word.endsWith("s") ? word.slice(0, -1) : word;
}

/** Matches where any term does. */
const ANY_TERM = new RegExp(LEXICON.map(({ match }) => match.source).join("|"));

/** The terms to look for in a text: none where none can match, which is so for most texts and takes one look. */
export function possibleTerms(text: string): readonly LexiconTerm[] {
  return ANY_TERM.test(text) ? LEXICON : [];
}

/** The term that a column or key name means, if any. `about` is the table or data set that it belongs to. */
export function termOf(columnName: string, about = ""): LexiconTerm | undefined {
  checkArgument("columnName", columnName, "string");
  const words = wordsOf(columnName).join(" ");
  if (words === "") return undefined;
  const meant = (text: string) =>
    possibleTerms(text).find(
      (term) => term.match.test(text) && !(term.unless?.test(text) ?? false) && (term.personal !== true || isAboutPeople(about)),
    );
  const found = meant(words);
  if (found !== undefined) return found;
  const english = inLexiconEnglish(words);
  return english === words ? undefined : meant(english);
}

/** True for names such as `crm.customers` or `PatientVisits`. */
export function isAboutPeople(text: string): boolean {
  return wordsOf(text).some((word) => PEOPLE.has(word));
}

/** True when the words name something of a business or its people. */
export function namesBusiness(words: readonly string[]): boolean {
  return words.some((word) => BUSINESS.has(word) || PEOPLE.has(word));
}

/** True for names such as `patients`: what is in them is health data. */
export function isAboutHealth(text: string): boolean {
  return wordsOf(text).some((word) =>
    /^(?:patient|diagnosis|prescription|medication|clinical|hospital|ehr|emr|medical)$/.test(word),
  );
}
