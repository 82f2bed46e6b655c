import type { Recogniser } from "../search/recogniser.ts";

// Shorthand of clinical notes: what people write in them and nowhere else. Sources: the abbreviations of the United States National Library of Medicine (MedlinePlus, StatPearls), HL7's codes for
// times and routes of medication (GTSAbbreviation, RouteOfAdministration), and ICD-10-CM for the form of its codes.

/** Illnesses and complaints that are written in no other sense beside words of notes. */
const STATES =
  "HTN|HLD|T[12]DM|I?DDM|NIDDM|DM ?[12I]{1,2}|COPD|CHF|HFrEF|HFpEF|CKD|ESRD|AKI|CAD|PVD|PAD|N?STEMI|MI|CVA|TIA|DVT|PE|UTI|URI|GERD|IBS|IBD|BPH|OSA|AF(?:ib)?|SVT|CABG|PCI|PTCA|TKA|THA|SOB|DOE|CP|HA|N\\/V(?:\\/D)?|LOC|AMS|ETOH|SI|HI|RA|OA|SLE|MS|TB|PTSD|MDD|GAD|ADHD|OCD|BPD|HIV|HCV|HBV|PCOS|AAA|SBO|TBI|GBS|ALL|AML|CLL|CML|NHL";
/** Those of them that mean nothing else in capitals. */
const SURE = "HTN|HLD|T[12]DM|NIDDM|COPD|CHF|HFrEF|HFpEF|CKD|ESRD|CAD|N?STEMI|DVT|GERD|CABG|BPH|NSTEMI|CVA|TIA|MDD|PTSD|DM[12]";
const ICD = "[A-TV-Z]\\d[\\dA-Z](?:\\.[\\dA-Z]{1,4})?";
const BORDER = "(?<![\\p{L}\\p{N}/-])";
const END = "(?![\\p{L}\\p{N}/-])";
const DOSE = "\\d{1,4}(?:[.,]\\d{1,3})? ?(?:mg|mcg|µg|μg|ug|g|ml|mL|mEq|units?|IU|tabs?|caps?|puffs?|gtts?)";
const ROUTE = "(?:p\\.?o\\.?|PO|IV|IM|SC|SQ|SL|PR|PRN|prn|NEB|INH)";
const TIME =
  "(?:[BbTtQq]\\.?[Ii]\\.?[Dd]\\.?|[Qq]\\.?[Hh]\\.?[Ss]\\.?|[Qq]\\.?[Oo]?\\.?[Dd]\\.?|[Qq][AaPp][Mm]|[Qq] ?\\d{1,2} ?[Hh](?:rs?)?|[Qq][Ww][Kk]?|PRN|prn|\\d-\\d-\\d(?:-\\d)?)";

/** Health, in the shorthand of notes about patients. */
export const clinical: readonly Recogniser[] = [
  {
    entity: "HEALTH_DATA",
    patterns: [
      {
        name: "history, complaint or diagnosis in shorthand",
        regex: new RegExp(
          `${BORDER}(?:[hH]\\/[oO]|[sS]\\/[pP]|[rR]\\/[oO]|[pP]\\/[wW]|[FPS]?M?[Hh]x|PMHx?|D?Dx|dx|DX|HX|HPI)(?:[.:]{1,2}|(?= ))(?: (?:of|for|with|w\\/|by|known|chronic|acute|new|old))? {0,2}(?:[\\p{L}\\d/]{1,14}[ ,]{1,2}){0,2}?(?:${STATES}|${ICD})${END}`,
          "gu",
        ),
        score: 0.6,
      },
      {
        // In addresses it is "care of".
        name: "complaint in shorthand",
        regex: new RegExp(
          `${BORDER}[cC]\\/[oO]:? (?:[\\p{L}\\d/]{1,14}[ ,]{1,2}){0,2}?(?:SOB|DOE|CP|HA|N\\/V(?:\\/D)?|(?:chest |back |abd\\w{0,8} )?pain|nausea|vomiting|cough|headaches?|fever|dizziness|fatigue|dyspn(?:o)?ea|palpitations|swelling|rash)${END}`,
          "gu",
        ),
        score: 0.6,
      },
      {
        name: "illnesses in shorthand",
        regex: new RegExp(`${BORDER}(?:${SURE})(?:(?:, ?| & | and |\\/| \\+ )(?:${SURE})){1,8}${END}`, "gu"),
        score: 0.6,
      },
      {
        name: "patient in shorthand",
        regex: new RegExp(
          `${BORDER}(?:(?<!\\d ?)(?:[Pp]ts?\\.?|PT)|\\d{1,3} ?(?:yo|y\\/o|y\\.o\\.?|YO|Y\\/O)(?: (?:[MF]|[A-Z]{1,3}[MF]|male|female|man|woman|lady))?) (?:c\\/o|C\\/O|p\\/w|P\\/W|w\\/|s\\/p|S\\/P|h\\/o|H\\/O|w?\\/?hx|denies|presents?|presenting|afebrile|A&O|AAO|NPO|adm(?:itted)?)(?![\\p{L}])`,
          "gu",
        ),
        score: 0.6,
      },
      {
        name: "vital signs",
        regex:
          /(?<![\p{L}\p{N}])BP:? ?\d{2,3}\/\d{2,3}(?: ?mm ?Hg)?[,; ]{1,3}(?:HR|P|RR|SpO2|SaO2|O2 sat|T|Temp|Tmax|Wt)[: ]{1,2}\d{2,3}/gu,
        score: 0.6,
      },
      { name: "allergies in shorthand", regex: /(?<![\p{L}\p{N}])(?:NKDA|NKMA)(?![\p{L}\p{N}])/gu, score: 0.6 },
      {
        name: "medication as it is prescribed",
        regex: new RegExp(
          `${BORDER}\\p{L}[\\p{L}-]{2,24} ${DOSE}(?: ?${ROUTE}){0,2} {1,2}(?:x ?\\d{1,2} ?[dw] )?${TIME}${END}`,
          "gu",
        ),
        score: 0.6,
      },
      {
        name: "code of ICD-10 beside its name",
        regex: new RegExp(
          `${BORDER}(?:ICD[ -]?(?:10|9|11)(?:[ -](?:CM|GM|code[sn]?))?|CIM[ -]?10|CIE[ -]?10|(?:[Dd]iagnos(?:is|e|es)|[Dd]x)(?:[ -]?(?:codes?|schl(?:ü|u)ssel))|Diagnosecodes?|[Dd]x)[:. ]{1,2}(?:(?:code|is|of|was|ist) )?${ICD}(?:(?:, ?| and | und | & |; ?|\\/)${ICD}){0,16}${END}`,
          "gu",
        ),
        score: 0.6,
      },
    ],
    context: [],
    needs: (text) => NOTES.test(text),
    prior: 0.1,
  },
];

/** What none of these is in is no note. */
const NOTES =
  /\w\/[oOpPwW]\b|[Hh][xX]\b|[Dd][xX]\b|\bPMH|\bHPI\b|\b(?:[Pp]ts?|PT)\b|\d ?(?:yo|YO|y\/o|Y\/O|y\.o)\b|\bBP\b|\bNK[DM]A\b|\d ?(?:m?c?g|µg|μg|m[lL]|mEq|IU|units?|tabs?|caps?|puffs?|gtts?)\b|\b(?:ICD|CIM|CIE)\b|[Dd]iagnos|\b(?:HTN|HLD|T[12]DM|NIDDM|COPD|CHF|CKD|ESRD|CAD|STEMI|NSTEMI|DVT|GERD|CABG|BPH|CVA|TIA|MDD|PTSD|DM[12]|HFrEF|HFpEF)\b/;
