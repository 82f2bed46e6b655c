/** A recogniser is whole: a new one cannot lack what the others have. */
import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, recognise } from "@seneschal/governance";
import { expect, test } from "vitest";
import { KINDS } from "../../conformance/cases/generated-identifiers.ts";

const entities = [...new Set(DEFAULT_RECOGNISERS.map(({ entity }) => entity))].sort();

/** Of what is not generated for the conformance suites. */
const SAMPLES: Readonly<Record<string, string>> = {
  AGE: "a 47-year-old patient",
  API_KEY: "api_key = 8f14e45fceea167a5a36dedd4bea2543",
  BANK_ACCOUNT: "<accountNumber>4711-0815</accountNumber>",
  BANK_CARD_EXPIRY: "<cardExpiry>12/27</cardExpiry>",
  BIOMETRIC_DATA: "her fingerprint template is stored",
  BIRTH_YEAR: "<birthYear>1985</birthYear>",
  CITY: "<city>Quorton</city>",
  CREDIT_SCORE: "<creditScore>712</creditScore>",
  DATE_OF_BIRTH: "<dateOfBirth>6 May 85</dateOfBirth>",
  DE_BSNR: "BSNR 231234600",
  DE_ID_CARD: "Personalausweisnummer LM3X9T4V4",
  DE_LANR: "LANR 123456601",
  DE_PASSPORT: "Reisepass CM3X9T4V1",
  DE_TAX_NUMBER: "Steuernummer 181/815/08155",
  ES_PASSPORT: "pasaporte AAA123456",
  DRIVER_LICENSE: "<driversLicense>Q-77-zz</driversLicense>",
  CRIMINAL_RECORD: "has Tom ever been arrested?",
  ETHNICITY: "she is of Kurdish descent",
  GENDER: "<gender>female</gender>",
  GENETIC_DATA: "the patient carries a BRCA1 mutation",
  GEO_LOCATION: "GPS 52.520008,13.404954",
  HEALTH_DATA: "diagnosed with diabetes",
  IMEI: "IMEI 490154203237518",
  IT_DRIVER_LICENSE: "patente di guida AB1234567X",
  IT_IDENTITY_CARD: "carta d'identità CA12345AB",
  JOB_TITLE: "<jobTitle>roofer</jobTitle>",
  JWT: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJlLW9mLXRoaXMtdG9rZW4",
  KR_DRIVER_LICENSE: "운전면허 11-19-123456-78",
  KR_PASSPORT: "여권 M12345678",
  LOCATION: "she lives in Berlin",
  MARITAL_STATUS: "<maritalStatus>widowed</maritalStatus>",
  NATIONALITY: "<nationality>Quorish</nationality>",
  NATIONAL_ID: "RUT 12.345.678-5",
  ORGANIZATION: "he works for Siemens AG",
  PASSPORT_NUMBER: "her passport number is 12AB34567",
  PASSWORD: "password: hunter2-hunter2",
  PERSON: "my name is Ada Lovelace",
  PH_MOBILE_NUMBER: "mobile 0917 123 4567",
  POLITICAL_OPINION: "a member of the Green Party",
  PRIVATE_KEY: "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----",
  RELIGION: "she converted to Islam",
  SALARY: "her salary is $84,000 a year",
  SEXUAL_ORIENTATION: "he came out as gay",
  STREET_ADDRESS: "221B Baker Street, London",
  TAX_ID: "CPF 111.444.777-35",
  TR_LICENSE_PLATE: "plaka 34 ABC 123",
  TR_PHONE_NUMBER: "telefon 0532 123 45 67",
  PATIENT_ID: "MRN 00482913",
  UNION_MEMBERSHIP: "a trade union member",
  USERNAME: "alice:x:1000:1000::/home/alice:/bin/bash",
  VENDOR_TOKEN: "key AKIAIOSFODNN7EXAMPLE",
  VAT_ID: "VAT ATU13585627",
  VEHICLE_REGISTRATION: "<licensePlate>QX 77</licensePlate>",
  VEHICLE_ID: "VIN 1HGCM82633A004352",
  ZIP_CODE: "zip code 90210",
};

test("every entity that is recognised has a tier and tags of its own, not those of what nobody knows", () => {
  expect(entities.length).toBeGreaterThan(70);
  expect(entities.filter((entity) => DEFAULT_TIER_POLICY.entities[entity] === undefined)).toEqual([]);
});

/** Whether two letters are a country's: `uk` counts as one. */
const isCountry = (letters: string): boolean =>
  new Intl.DisplayNames("en", { type: "region", fallback: "none" }).of(letters.toUpperCase()) !== undefined;

test("an entity that is called by a country is looked for under a hint at that country, and every country is one that there is", () => {
  for (const { entity, country, byName } of DEFAULT_RECOGNISERS) {
    // A name says it in any country.
    if (byName === true) continue;
    const named = /^[A-Z]{2}(?=_)/.exec(entity)?.[0].toLowerCase();
    if (named !== undefined && isCountry(named)) expect([entity, country]).toEqual([entity, named]);
    if (country !== undefined) expect(/^[a-z]{2}$/.test(country) && isCountry(country), `${entity} ${country}`).toBe(true);
  }
});

test("every entity that is recognised is generated for the conformance suites, or has a sample here", () => {
  const shown = new Set([...KINDS.map(({ entity }) => entity), ...Object.keys(SAMPLES)]);
  expect(entities.filter((entity) => !shown.has(entity))).toEqual([]);
});

test.each(Object.entries(SAMPLES))("%s is found in: %s", (entity, text) => {
  const country = /^[A-Z]{2}(?=_)/.exec(entity)?.[0].toLowerCase();
  const found = recognise(text, DEFAULT_RECOGNISERS, country === undefined ? {} : { country });
  expect(found.map((finding) => finding.entity)).toContain(entity);
});
