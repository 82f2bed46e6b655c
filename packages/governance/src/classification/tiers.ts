import { checkArgument } from "@seneschal/kernel";

/** Sensitivity tiers, lowest first. Another scale of another organisation is mapped by a table, never merged into this one. */
export const DEFAULT_TIERS = ["PUBLIC", "INTERNAL", "CONFIDENTIAL", "PROPRIETARY", "RESTRICTED"] as const;

/** What an entity means: its tier and its tags. */
export interface EntityPolicy {
  readonly tier: string;
  readonly tags: readonly string[];
}

/** The ordered tiers and what every entity means in them: configuration, with the defaults of this file. */
export interface TierPolicy {
  /** Lowest first. */
  readonly tiers: readonly string[];
  readonly entities: Readonly<Record<string, EntityPolicy>>;
  /** Distinct quasi-identifiers in one row or projection from which on they count as `quasiTier`. */
  readonly quasiThreshold: number;
  readonly quasiTier: string;
  /** Kind tag -> the regimes it falls under. */
  readonly regimes: Readonly<Record<string, readonly string[]>>;
}

const table: Record<string, EntityPolicy> = {};
function add(tier: string, kinds: readonly string[], entities: string): void {
  for (const item of entities.trim().split(/\s+/)) {
    const [entity = "", tag] = item.split(":");
    table[entity] = { tier, tags: [...kinds, ...(tag === undefined ? [] : [tag])] };
  }
}

add("RESTRICTED", ["CREDENTIALS"], "PASSWORD:PASSWORD API_KEY:API_KEY VENDOR_TOKEN:API_KEY PRIVATE_KEY:PRIVATE_KEY JWT:JWT");
add("RESTRICTED", ["PII", "PCI"], "CREDIT_CARD:CREDIT_CARD");
add(
  "RESTRICTED",
  ["PII", "PHI"],
  "US_MBI:MBI UK_NHS:NHS AU_MEDICARE:MEDICARE DE_HEALTH_INSURANCE:KVNR HEALTH_DATA:HEALTH PATIENT_ID:PATIENT_ID",
);
add(
  "RESTRICTED",
  ["PII", "SPECIAL_CATEGORY"],
  "BIOMETRIC_DATA:BIOMETRIC GENETIC_DATA:GENETIC RELIGION:RELIGION SEXUAL_ORIENTATION:ORIENTATION UNION_MEMBERSHIP:UNION POLITICAL_OPINION:POLITICS ETHNICITY:ETHNICITY CRIMINAL_RECORD:CRIMINAL",
);
add(
  "PROPRIETARY",
  ["PII"],
  `US_SSN:SSN US_ITIN:TAX_ID US_PASSPORT:PASSPORT US_DRIVER_LICENSE:DRIVER_LICENSE UK_NINO:NINO UK_PASSPORT:PASSPORT
   UK_DRIVING_LICENCE:DRIVER_LICENSE AU_TFN:TAX_ID CA_SIN:SIN DE_TAX_ID:TAX_ID DE_TAX_NUMBER:TAX_ID DE_ID_CARD:ID_CARD DE_PASSPORT:PASSPORT
   DE_SOCIAL_SECURITY:SOCIAL_SECURITY DE_FUEHRERSCHEIN:DRIVER_LICENSE ES_NIE:NIE ES_NIF:NIF ES_PASSPORT:PASSPORT
   FI_PERSONAL_IDENTITY_CODE:NATIONAL_ID IN_AADHAAR:AADHAAR IN_PAN:PAN IN_PASSPORT:PASSPORT IN_VOTER:VOTER_ID
   IT_FISCAL_CODE:TAX_ID IT_DRIVER_LICENSE:DRIVER_LICENSE IT_IDENTITY_CARD:ID_CARD IT_PASSPORT:PASSPORT
   KR_RRN:NATIONAL_ID KR_FRN:NATIONAL_ID KR_PASSPORT:PASSPORT KR_DRIVER_LICENSE:DRIVER_LICENSE NG_NIN:NATIONAL_ID PH_TIN:TAX_ID PL_PESEL:NATIONAL_ID
   SE_PERSONNUMMER:NATIONAL_ID SG_NRIC_FIN:NATIONAL_ID TH_TNIN:NATIONAL_ID TR_NATIONAL_ID:NATIONAL_ID ZA_ID_NUMBER:NATIONAL_ID
   NATIONAL_ID:NATIONAL_ID TAX_ID:TAX_ID PASSPORT_NUMBER:PASSPORT DRIVER_LICENSE:DRIVER_LICENSE`,
);
add(
  "PROPRIETARY",
  ["PII", "FINANCIAL"],
  "IBAN_CODE:IBAN US_BANK_NUMBER:BANK_ACCOUNT BANK_ACCOUNT:BANK_ACCOUNT SALARY:SALARY CREDIT_SCORE:CREDIT_SCORE",
);
add("CONFIDENTIAL", ["PII", "PCI"], "BANK_CARD_EXPIRY:CARD_EXPIRY");
add(
  "CONFIDENTIAL",
  ["PII"],
  `EMAIL_ADDRESS:EMAIL PHONE_NUMBER:PHONE PH_MOBILE_NUMBER:PHONE TR_PHONE_NUMBER:PHONE PERSON:NAME STREET_ADDRESS:ADDRESS
   DATE_OF_BIRTH:DOB BIRTH_YEAR:DOB IP_ADDRESS:IP MAC_ADDRESS:MAC CRYPTO:CRYPTO DE_KFZ:PLATE TR_LICENSE_PLATE:PLATE IN_VEHICLE_REGISTRATION:PLATE
   NG_VEHICLE_REGISTRATION:PLATE UK_VEHICLE_REGISTRATION:PLATE VEHICLE_REGISTRATION:PLATE VEHICLE_ID:VIN IMEI:IMEI USERNAME:USERNAME GEO_LOCATION:LOCATION`,
);
add(
  "INTERNAL",
  ["BUSINESS_ID"],
  `ABA_ROUTING_NUMBER:ROUTING US_NPI:NPI MEDICAL_LICENSE:LICENSE DE_LANR:LANR DE_BSNR:BSNR DE_HANDELSREGISTER:REGISTER
   VAT_ID:VAT DE_VAT_ID:VAT IT_VAT_CODE:VAT IN_GSTIN:VAT KR_BRN:BRN SE_ORGANISATIONSNUMMER:ORG_NUMBER SG_UEN:UEN AU_ABN:ABN AU_ACN:ACN`,
);
add(
  "INTERNAL",
  ["QUASI_IDENTIFIER"],
  "DATE_TIME UK_POSTCODE DE_PLZ ZIP_CODE AGE GENDER CITY NATIONALITY MARITAL_STATUS JOB_TITLE",
);
add("INTERNAL", [], "URL BUSINESS_OBJECT LOCATION ORGANIZATION");

/** The defaults: personal identifiers are PROPRIETARY; credentials, cards and special categories RESTRICTED. */
export const DEFAULT_TIER_POLICY: TierPolicy = {
  tiers: DEFAULT_TIERS,
  entities: table,
  quasiThreshold: 3,
  quasiTier: "CONFIDENTIAL",
  regimes: { PII: ["GDPR", "CCPA"], PHI: ["HIPAA"], PCI: ["PCI_DSS"], FINANCIAL: ["GLBA"] },
};

/** Place of a tier in the scale; an unknown tier counts as the highest, so that a mistake never lowers protection. */
export function tierRank(policy: Pick<TierPolicy, "tiers">, tier: string): number {
  checkArgument("policy", policy, "object");
  checkArgument("tier", tier, "string");
  const rank = policy.tiers.indexOf(tier);
  return rank < 0 ? policy.tiers.length - 1 : rank;
}

/** The higher of two tiers. */
export function maxTier(policy: Pick<TierPolicy, "tiers">, a: string, b: string): string {
  checkArgument("policy", policy, "object");
  checkArgument("a", a, "string");
  checkArgument("b", b, "string");
  return tierRank(policy, a) >= tierRank(policy, b) ? a : b;
}

/** The lowest tier of the scale. */
export function lowestTier(policy: Pick<TierPolicy, "tiers">): string {
  checkArgument("policy", policy, "object");
  return policy.tiers[0] ?? "PUBLIC";
}

/** The highest tier of the scale: what cannot be read counts as it. */
export function highestTier(policy: Pick<TierPolicy, "tiers">): string {
  return policy.tiers.at(-1) ?? "RESTRICTED";
}

/** The tier of what nobody classified: it is known to exist, so that it is not public. */
export function unclassifiedTier(policy: Pick<TierPolicy, "tiers">): string {
  checkArgument("policy", policy, "object");
  return policy.tiers[Math.min(1, policy.tiers.length - 1)] ?? "INTERNAL";
}

/** One tier down, but not below the second lowest: an aggregate over sensitive data is still internal. */
export function loweredTier(policy: Pick<TierPolicy, "tiers">, tier: string): string {
  checkArgument("policy", policy, "object");
  checkArgument("tier", tier, "string");
  const rank = tierRank(policy, tier);
  return rank <= 1 ? tier : (policy.tiers[rank - 1] ?? tier);
}

/** Tier of an entity; an entity that the table does not know counts as personal. */
export function policyOf(policy: TierPolicy, entity: string): EntityPolicy {
  checkArgument("policy", policy, "object");
  checkArgument("entity", entity, "string");
  return policy.entities[entity] ?? { tier: policy.tiers[Math.min(2, policy.tiers.length - 1)] ?? "CONFIDENTIAL", tags: ["PII"] };
}

/** Tags of a set of entities with the regimes they fall under, in one fixed order: kinds, entity tags, regimes, each sorted. */
export function tagsOf(policy: TierPolicy, entities: Iterable<string>): string[] {
  checkArgument("policy", policy, "object");
  checkArgument("entities", entities, "iterable");
  const kinds = new Set<string>();
  const short = new Set<string>();
  const regimes = new Set<string>();
  for (const entity of entities) {
    for (const tag of policyOf(policy, entity).tags) {
      (KINDS.has(tag) ? kinds : short).add(tag);
      for (const regime of policy.regimes[tag] ?? []) regimes.add(regime);
    }
  }
  return [...[...kinds].sort(), ...[...short].sort(), ...[...regimes].sort()];
}

const KINDS = new Set(["PII", "PHI", "PCI", "CREDENTIALS", "SPECIAL_CATEGORY", "QUASI_IDENTIFIER", "FINANCIAL", "BUSINESS_ID"]);
