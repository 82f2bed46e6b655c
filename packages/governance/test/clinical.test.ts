import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClassifier } from "../src/index.ts";

const classifier = createClassifier();
const isHealth = (text: string): boolean => classifier.classify(text).tags.includes("HEALTH");

describe("the shorthand of notes about patients is health", () => {
  const state = fc.constantFrom("HTN", "COPD", "T2DM", "CKD", "NSTEMI", "GERD", "E11.9", "F32.1");
  const frame = fc.constantFrom<(state: string) => string>(
    (s) => `Hx of ${s}`,
    (s) => `PMH: ${s}`,
    (s) => `PMHx ${s}, stable`,
    (s) => `h/o ${s} since 2015`,
    (s) => `Dx: ${s}`,
    (s) => `r/o ${s}`,
    (s) => `FHx: ${s}`,
  );
  test("a history, a diagnosis, a suspicion", () =>
    fc.assert(
      fc.property(
        state,
        frame,
        fc.constantFrom("", "see plan: ", "65yo M, "),
        fc.constantFrom("", ". F/u 2 wks"),
        (s, write, before, behind) => {
          const text = before + write(s) + behind;
          expect([text, isHealth(text)]).toEqual([text, true]);
        },
      ),
    ));

  const drug = fc.constantFrom("metformin", "Amoxicillin", "lisinopril", "Zelnikerol", "ASA");
  const dose = fc.constantFrom("500 mg", "10mg", "0.5 mg", "2 puffs", "20 mEq", "100 units");
  const route = fc.constantFrom("", " PO", " IV", " p.o.", " SL prn");
  const time = fc.constantFrom("BID", "bid", "TID", "QID", "qd", "QHS", "q6h", "q 8 hrs", "1-0-1", "b.i.d.");
  test("a medication as it is prescribed, of whatever drug", () =>
    fc.assert(
      fc.property(drug, dose, route, time, (d, n, r, t) => {
        const text = `cont. ${d} ${n}${r} ${t}`;
        expect([text, isHealth(text)]).toEqual([text, true]);
      }),
    ));

  test.each([
    "pt c/o SOB x3 days",
    "Pt. denies N/V, afebrile",
    "65yo M presents w/ CP",
    "72 y/o female p/w dizziness",
    "BP 140/90 HR 88",
    "NKDA. Meds as before",
    "c/o chest pain and nausea",
    "COPD, CHF, CKD stage 3",
    "ICD-10 code E11.9",
    "ICD-10-CM: M54.5, G43.909",
    "diagnosis codes F32.1 and Z79.4",
    "Diagnoseschlüssel F32.1",
    "CIM-10 : J45.0".replace(" :", ":"),
  ])("%s", (text) => expect(isHealth(text)).toBe(true));
});

describe("what looks like it and is about things is none", () => {
  test.each([
    "The Q3 report E11.9 section is done",
    "sector F32.1 of the grid",
    "Part no. M25.5 in stock",
    "Room A10.2 is booked",
    "take 500 mg of caffeine",
    "Hx of the building: built 1910",
    "Rx signal strength -70 dBm, Tx 20",
    "SOB said the driver",
    "pt 3 of the series",
    "MI5 and CP/M systems",
    "version I10.2 released",
    "Write to Ada, c/o MS Consulting, PE House",
    "font-size: 12 pt w/ serif",
    "CC: MS Team, PE Department",
    "The MS in RA and OA studies",
    "mixed 20 mg and 30 ml of water",
    "const pt = point; pt.x = 4",
    "Dx = x1 - x0; Dy = y1 - y0",
    "dx E1 + dy F2",
    "Meet in PT on Monday, Porto",
    "r/o the list and s/p it",
  ])("%s", (text) => expect(isHealth(text)).toBe(false));
});
