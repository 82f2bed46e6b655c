const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Default lifetimes of the gateway's nouns, in milliseconds. The configuration may replace each. */
export const lifetimes = {
  invitation: 7 * day,
  enrollmentToken: 24 * hour,
  ceremony: 24 * hour,
  generationCeremony: 24 * hour,
  /** How long the start of a ceremony among custodians may give them. */
  custodyCeremonyMax: 30 * day,
  recovery: 24 * hour,
  signingRequest: 10 * minute,
  signingRequestMax: 24 * hour,
  certificate: 90 * day,
  certificateMax: 365 * day,
  emergencyRequest: 24 * hour,
  emergencyToken: hour,
  mfaLock: 15 * minute,
  message: 30 * day,
  messageMax: 365 * day,
  /** On its way to another instance a signed consent is good for so long after its own end. */
  consentTransit: day,
  tidyBuffer: 72 * hour,
} as const;

export type Lifetimes = { readonly [K in keyof typeof lifetimes]: number };

/** Bounds on counts and sizes. */
export const limits = {
  shares: { min: 2, max: 255 },
  name: 256,
  text: 4096,
  context: { entries: 32, key: 128, value: 1024 },
  batch: 100,
  page: { default: 50, auditDefault: 100, max: 1000 },
  /**
   * AES-GCM with random nonces: a DEK version is used fewer than 2^32 times (NIST SP 800-38D, 8.3). Instances cannot count together:
   * the owner's has one half, each of at most `replicas` others an equal part of the other half.
   */
  dekUses: { owner: 2 ** 31, replica: 2 ** 24 },
  replicas: 127,
  /**
   * A seat holds every key version wrapped in one document. `rotate`: up to here keys rotate by themselves and on request; what is left
   * up to `max` is for those who leave, whose knowledge must end. `max` is what a seat can hold, and what may travel.
   */
  keyVersions: { rotate: 8000, max: 8192 },
  /** Of one workspace; `bytes` of their texts as JSON. All of them travel to every partner that takes part. */
  policies: { count: 100, bytes: 4 << 20 },
} as const;
