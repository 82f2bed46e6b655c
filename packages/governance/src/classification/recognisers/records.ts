import type { Recogniser } from "../search/recogniser.ts";

/** Segments of HL7 v2 that speak of a patient (HL7 2.5.1, chapters 3, 4, 6, 7). */
const SEGMENTS = "PID|PD1|PV1|PV2|NK1|DG1|AL1|IAM|OBR|OBX|ORC|RXA|RXO|RXE|RXD|IN1|IN2|GT1|PR1|DRG|FT1|SPM|MRG|PRB|ACC|TXA";
/** Transactions of X12 between providers and payers of care (HIPAA, 45 CFR 162). */
const TRANSACTIONS = "270|271|275|276|277|278|820|834|835|837";
/** Messages of EDIFACT about patients (UN/EDIFACT D.98A and on: MEDCLM, MEDREQ, ...; German hospitals and insurers: SGB V, sections 295, 301, 302). */
const MESSAGES = "MED[A-Z]{3}|AUFN|ENTL|VERL|RECH|SLLA|SLGA|PLAA|PLGA|ANFM|KOUB|MBEG|SAMU|AMBO|KAIN";
/** Resources of FHIR R4 about one patient. */
const RESOURCES =
  "Patient|RelatedPerson|Observation|Condition|Encounter|Procedure|MedicationRequest|MedicationStatement|MedicationAdministration|MedicationDispense|AllergyIntolerance|DiagnosticReport|Immunization|CarePlan|Claim|ClaimResponse|ExplanationOfBenefit|Coverage|ClinicalImpression|FamilyMemberHistory|ServiceRequest|QuestionnaireResponse|DocumentReference|Composition|Consent";

/** What each of these messages has somewhere. */
const MAY_HOLD = new RegExp(
  `(?:${SEGMENTS}|MSH|ISA|UNH|ST|HI|CL[MP]|DMG|NM1|SV[12])[^\\w\\s]|resourceType|0\\d\\d[368]\\d{3}|ClinicalDocument|hl7\\.org|\\(0010,`,
);

/** Where a line begins, in messages that came from a file or a socket. */
const LINE = "(?<![^\\r\\n\\v\"'`])";

/** Lines and messages of formats that machines exchange about people: what they hold stands in the format, beside no word that says so. */
export const records: readonly Recogniser[] = [
  {
    entity: "PASSWORD",
    patterns: [
      {
        // Ids of crypt(5), and of those that follow it.
        name: "hash of crypt",
        regex:
          /(?<![\w$])\$(?:1|2[abxy]?|5|6|7|y|gy|md5|sha1|apr1|argon2(?:id|i|d)|scrypt|pbkdf2(?:-sha\d{1,3})?|bcrypt-sha256|[PHS])\$[A-Za-z0-9./=,$+_-]{16,512}/g,
        score: 0.9,
      },
      {
        // RFC 2307.
        name: "hash of a directory",
        regex: /\{(?:S?SHA(?:256|384|512)?|S?MD5|CRYPT|PBKDF2(?:-SHA\d{1,3})?|ARGON2)\}[A-Za-z0-9+/=.$]{16,512}/gi,
        score: 0.9,
      },
      {
        name: "hash of a framework",
        regex:
          /(?<!\w)(?:pbkdf2_sha\d{1,3}|pbkdf2:sha\d{1,3}(?::\d{1,9})?|bcrypt_sha256|argon2|scrypt:\d{1,9}:\d:\d|SCRAM-SHA-(?:1|256|512))\$[A-Za-z0-9+/=.$:,_-]{20,512}/g,
        score: 0.9,
      },
      { name: "hash of PostgreSQL or MySQL", regex: /(?<![\w*])(?:md5[0-9a-f]{32}|\*[0-9A-F]{40})(?!\w)/g, score: 0.75 },
      {
        name: "line of a Windows dump",
        regex: /(?<![^\s"'`])[^\s:"'`]{1,64}:\d{1,10}:[0-9a-f]{32}:[0-9a-f]{32}:/gi,
        score: 0.9,
      },
      {
        // RFC 2798, RFC 4519 and what directories add to them, in LDIF (RFC 2849).
        name: "attribute of a directory",
        regex:
          /(?<!\w)(?:userPassword|unicodePwd|authPassword|samba(?:NT|LM)Password|krbPrincipalKey|shadowPassword)::?\s?\S{4,512}/gi,
        score: 0.9,
      },
      {
        name: "line of shadow",
        regex: new RegExp(`${LINE}[a-z_][\\w.-]{0,31}\\$?:!?[A-Za-z0-9./]{13}(?::\\d{0,6}){6}:`, "gi"),
        score: 0.9,
      },
    ],
    context: [],
    needs: (text) => /[$}][A-Za-z0-9+/=.$]{16}|[0-9a-f]{32}|:\d{0,6}:\d{0,6}:|Pwd|Password|SCRAM|krbPrincipalKey/i.test(text),
    prior: 1,
  },
  {
    entity: "USERNAME",
    patterns: [
      {
        // passwd(5).
        name: "line of passwd",
        regex: new RegExp(
          `${LINE}[a-z_][\\w.-]{0,31}\\$?:[x*!]{0,2}:\\d{1,10}:\\d{1,10}:[^:\\r\\n]{0,256}:/?[^:\\r\\n]{0,256}:[^\\s:]{0,256}`,
          "gi",
        ),
        score: 0.9,
      },
      {
        // shadow(5), of an account without a password.
        name: "line of shadow",
        regex: new RegExp(`${LINE}[a-z_][\\w.-]{0,31}\\$?:[!*x]{0,2}(?::\\d{0,6}){6}:`, "gi"),
        score: 0.9,
      },
    ],
    context: [],
    needs: (text) => /:\d{0,10}:\d{0,10}:/.test(text),
    prior: 1,
  },
  {
    entity: "HEALTH_DATA",
    patterns: [
      {
        name: "segment of HL7 v2",
        regex: new RegExp(
          `${LINE}(?:${SEGMENTS})\\|(?=[^\\r\\n]{0,400}(?:\\^|\\d))(?:[^|\\r\\n]{0,400}\\|){2,60}[^|\\r\\n]{0,400}`,
          "g",
        ),
        score: 0.9,
      },
      {
        name: "message of HL7 v2",
        regex: new RegExp(
          `(?<!\\w)MSH[^\\w\\s]{4,7}[\\s\\S]{0,2000}?(?<![A-Z0-9])(?:${SEGMENTS})[^\\w\\s][^\\r\\n]{0,2000}`,
          "g",
        ),
        score: 0.9,
      },
      {
        name: "transaction of X12",
        regex: new RegExp(
          `(?<!\\w)ISA[^\\w\\s]\\d\\d[^\\w\\s][\\s\\S]{60,600}?\\bST[^\\w\\s](?:${TRANSACTIONS})[^\\w\\s][\\s\\S]{0,4000}`,
          "g",
        ),
        score: 0.9,
      },
      {
        name: "segment of X12",
        regex:
          /(?<![\w*])(?:ST\*(?:27[0135678]|820|83[457])\*|HI\*[A-Z]{2,3}:[A-Z0-9]{3,8}|CL[MP]\*[^*~\n]{1,38}\*[\d.]{1,18}\*|DMG\*D8\*\d{8}|NM1\*(?:IL|QC|74|03|GB|S3)\*1\*|SV[12]\*(?:HC:|\d{4}\*HC:))[^~\n]{0,400}/g,
        score: 0.9,
      },
      {
        name: "message of EDIFACT",
        regex: new RegExp(`(?<!\\w)UNH[^\\w\\s][\\w-]{1,14}[^\\w\\s](?:${MESSAGES})[^\\w\\s][\\s\\S]{0,4000}`, "g"),
        score: 0.9,
      },
      {
        name: "resource of FHIR",
        regex: new RegExp(`["']?resourceType["']?\\s{0,4}[:=]\\s{0,4}["']?(?:${RESOURCES})(?!\\w)`, "g"),
        score: 0.9,
      },
      {
        // Fields of a patient in xDT (KBV): the length of the line, the number of the field, its value.
        name: "field of xDT",
        regex: new RegExp(
          `${LINE}0\\d\\d(?:3000|310[1-5]|3107|3110|6200|6205|6220|6227|6228|84[0-9]\\d)[^\\s\\d][^\\r\\n]{0,80}`,
          "g",
        ),
        score: 0.9,
      },
      {
        name: "clinical document",
        regex: /<(?:\w{1,20}:)?ClinicalDocument\b|<(?:Patient|Observation|Condition|Bundle)\s[^>]{0,200}http:\/\/hl7\.org\/fhir/g,
        score: 0.9,
      },
      {
        // The module of the patient: DICOM PS3.3, C.7.1.1.
        name: "attribute of DICOM",
        regex: /\(0010,(?:00[1-4]0|1\d{3}|2\d{3}|4000)\)[^\n]{1,200}/g,
        score: 0.9,
      },
    ],
    context: [],
    needs: (text) => MAY_HOLD.test(text),
    prior: 1,
  },
  {
    // HIPAA, 45 CFR 164.514(b)(2)(i)(H): numbers of nobody's making but a hospital's, told by their name alone.
    entity: "PATIENT_ID",
    patterns: [
      {
        name: "named number of a patient",
        regex:
          /(?<=(?<![\p{L}\d])(?:MRN|medical record|medical record (?:number|no\.?|num\.?|id)|(?:patient|chart)[ _-]?(?:id|number|no\.?)|patienten-?(?:nummer|nr\.?|id)|numéro de (?:patient|dossier médical)|(?:número de |n\.º )?historia clínica|cartella clinica|prontuário|patiëntnummer)["']?(?: (?:n\.|n[º°]|is))? ?[:=#]?["' ]{0,2})(?:[A-Z]{1,4}-?)?\d{4,12}(?:-\d{1,6})?(?![\p{L}\d])/giu,
        score: 0.75,
      },
    ],
    context: [],
    needs: (text) => /mrn|record|patient|chart|dossier|historia|cartella|prontu|pati[eë]nt/i.test(text) && /\d{4}/.test(text),
    prior: 0.9,
  },
  {
    entity: "HEALTH_DATA",
    patterns: [{ name: "resource of FHIR", regex: new RegExp(`^(?:${RESOURCES})$`, "g"), score: 0 }],
    context: ["resourcetype", "resource type"],
    prior: 1,
  },
  {
    entity: "PASSPORT_NUMBER",
    patterns: [
      {
        name: "list of passengers",
        regex: /(?<!\w)UNH[^\w\s][\w-]{1,14}[^\w\s](?:PAXLST|PNRGOV|GOVCBR)[^\w\s][\s\S]{0,4000}/g,
        score: 0.9,
      },
    ],
    context: [],
    needs: "UNH",
    prior: 1,
  },
];
