/** Names of columns, fields and keys: which of them hold something about a person, and what. */
import { termOf } from "@seneschal/governance";
import { type LabelledNames, SCHEMA_NAMES, SEEN_NAMES, UNSEEN_NAMES } from "../cases/held-out-names.ts";
import type { ConformanceSuite, SuiteResult } from "../suite.ts";
import { tally } from "../tally.ts";

interface Judged {
  readonly recall: SuiteResult;
  readonly precision: SuiteResult;
}

/** Recall: of the names that hold an entity, how many are told as it. Precision: of the names that are told as an entity, how many hold that one. `tell` keeps what went wrong. */
function judge(rows: LabelledNames, tell: boolean): Judged {
  const [recall, precision] = [tally(), tally()];
  let [harmless, flagged] = [0, 0];
  for (const [entities, names] of rows) {
    const wanted = entities === "" ? [] : entities.split("|");
    for (const written of names.split(", ")) {
      const [about, name] = written.includes(":") ? written.split(":") : ["", written];
      const got = termOf(name ?? "", about)?.entity;
      const said = tell ? `${written}: wanted ${entities || "nothing"}, got ${got}` : "withheld";
      if (wanted.length > 0) recall.judge(got !== undefined && wanted.includes(got), said);
      else harmless++;
      if (got === undefined) continue;
      precision.judge(wanted.includes(got), said);
      if (wanted.length === 0) flagged++;
    }
  }
  return { recall: recall.result(), precision: precision.result({ harmless_flagged: flagged / harmless }) };
}

function suitesOf(part: string, rows: LabelledNames, tell: boolean, recall: number, precision: number): ConformanceSuite[] {
  return [
    { name: `classification/names-${part}-recall`, floor: recall, run: async () => judge(rows, tell).recall },
    { name: `classification/names-${part}-precision`, floor: precision, run: async () => judge(rows, tell).precision },
  ];
}

export const suites: readonly ConformanceSuite[] = [
  ...suitesOf("seen", SEEN_NAMES, true, 0.99, 0.99),
  ...suitesOf("of-schemas", SCHEMA_NAMES, true, 0.97, 0.98),
  ...suitesOf("unseen", UNSEEN_NAMES, false, 0.95, 0.98),
];
