import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createClassifier,
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
  recognise,
  redact,
  redactCsv,
  redactJson,
  tierRank,
} from "../src/index.ts";

const policy = DEFAULT_TIER_POLICY;
const options = { policy, recognisers: DEFAULT_RECOGNISERS, rules: [] };
const redacted = (text: string): string => redact(text, options).text;
const classifier = createClassifier();
const rank = (text: string): number => tierRank(policy, classifier.classify(text).tier);

/** Values that no pattern knows, under names that say what they are, and under names of things. */
const member = fc.oneof(
  fc.tuple(
    fc.constantFrom("lastName", "family_name", "diagnosis", "db_password", "religion"),
    fc.constantFrom("Quorvath", "zzyx", "Zed-Quor", "two words"),
  ),
  fc.tuple(fc.constantFrom("salary", "credit_score", "accountNumber"), fc.constantFrom("58000", "712", "471108")),
  fc.tuple(fc.constantFrom("dateOfBirth", "passport_no"), fc.constantFrom("1990-05-06", "X77124")),
  fc.tuple(fc.constantFrom("ssn"), fc.constantFrom("536226728", "536-22-6728")),
  fc.tuple(fc.constantFrom("version", "groupId", "description", "colour"), fc.constantFrom("1.2.3", "blue", "58001")),
);
const members = fc.uniqueArray(member, { minLength: 2, maxLength: 5, selector: ([name]) => name });
type Members = readonly (readonly [string, string])[];

/** Whether JSON hides it under that member: what other texts are measured by. */
const isHidden = (name: string, value: string): boolean => {
  const json = JSON.stringify({ [name]: value });
  return redactJson(json, options).text !== json;
};

/** What a table of so many equal rows looks like, each cell between `open` and `close`. */
type Written = (all: Members, rows: number) => string;
const padded = (all: Members, rows: number, gap: string, rule: boolean): string => {
  const widths = all.map(([name, value]) => Math.max(name.length, value.length));
  const line = (cells: readonly string[]) => cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(gap);
  return [
    line(all.map(([name]) => name)),
    ...(rule ? [line(widths.map((width) => "-".repeat(width)))] : []),
    ...Array<string>(rows).fill(line(all.map(([, value]) => value))),
  ].join("\n");
};
const bars = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
const FORMS: Readonly<Record<string, Written>> = {
  "elements of XML": (all, rows) =>
    `<list>${`<row>${all.map(([name, value]) => `<${name}>${value}</${name}>`).join("\n")}</row>`.repeat(rows)}</list>`,
  "elements with prefixes and attributes": (all, rows) =>
    `<a:row xmlns:a="urn:a">${all.map(([name, value]) => `<a:${name} type="plain"> ${value} </a:${name}>`).join("")}</a:row>`.repeat(
      rows,
    ),
  "values of elements in an attribute": (all, rows) =>
    `<row>${all.map(([name, value]) => `<${name} value="${value}"/>`).join("")}</row>`.repeat(rows),
  attributes: (all, rows) => `<row ${all.map(([name, value]) => `${name}='${value}'`).join(" ")} />`.repeat(rows),
  "attributes that name a value": (all, rows) =>
    all
      .map(([name, value]) => `<property name="${name}" value="${value}"/><data key="${name}">${value}</data>`)
      .join("")
      .repeat(rows),
  "elements that name a value": (all, rows) =>
    all
      .map(([name, value]) => `<entry><key>${name}</key><value>${value}</value></entry>`)
      .join("")
      .repeat(rows),
  "character data": (all, rows) =>
    all
      .map(([name, value]) => `<${name}><![CDATA[${value}]]></${name}>`)
      .join("")
      .repeat(rows),
  "rows of INSERT": (all, rows) => {
    const row = `(1, ${all.map(([, value], i) => (i % 2 === 0 ? `'${value}'` : `trim(N'${value}')`)).join(", ")}, now())`;
    return `INSERT INTO app."t" (id, ${all.map(([name]) => `"${name}"`).join(", ")}, at) VALUES ${Array(rows).fill(row).join(",\n ")};`;
  },
  "rows of INSERT without columns": (all, rows) => {
    const row = `(1, ${all.map(([, value]) => `'${value}'`).join(", ")}, now())`;
    const declared = all
      .map(([name], i) => `  "${name}" varchar(${20 + i}) default 'a, (b' not null, -- as it is, or not\n`)
      .join("");
    return `create table if not exists app.t (\n  id bigint primary key /* a, b */,\n${declared}  at numeric(10, 2),\n  constraint c check (id > 0),\n  primary key (id, at)\n);\nINSERT INTO "t" VALUES ${Array(rows).fill(row).join(",\n ")};`;
  },
  "lines of COPY without columns": (all, rows) =>
    `CREATE TABLE public.t (id int, ${all.map(([name]) => `${name} text`).join(", ")});\nCOPY public.t FROM stdin;\n${`7\t${all.map(([, value]) => value).join("\t")}\n`.repeat(rows)}\\.\n`,
  "assignments of UPDATE": (all, rows) =>
    `UPDATE app."t" AS x SET at = now(), ${all.map(([name, value], i) => (i % 2 === 0 ? `"${name}" = '${value}'` : `x.${name} = coalesce(trim('${value}'), '')`)).join(", ")} WHERE id = 7;\n`.repeat(
      rows,
    ),
  "assignments of MERGE, of rows, and of a row that is there": (all, rows) =>
    `when matched then update set ${all.map(([name, value]) => `${name} = '${value}'`).join(", ")} when not matched then do nothing; update t set (id, ${all.map(([name]) => name).join(", ")}) = (1, ${all.map(([, value]) => `'${value}'`).join(", ")}) where true; insert into t values (1) on duplicate key update ${all.map(([name, value]) => `${name} = '${value}'`).join(", ")};\n`.repeat(
      rows,
    ),
  "lines of COPY": (all, rows) =>
    `COPY public.t (id, ${all.map(([name]) => name).join(", ")}) FROM stdin;\n${`7\t${all.map(([, value]) => value).join("\t")}\n`.repeat(rows)}\\.\n`,
  "tables of Markdown": (all, rows) =>
    [
      "So it stands:",
      "",
      bars(all.map(([name]) => name)),
      bars(all.map((_, i) => (i % 2 === 0 ? "---" : ":-:"))),
      ...Array<string>(rows).fill(bars(all.map(([, value]) => value))),
      "",
      "That is all.",
    ].join("\n"),
  "tables of psql": (all, rows) => padded(all, rows, " | ", true).replace(/^-.*$/m, (rule) => rule.replaceAll(" | ", "-+-")),
  "tables of mysql": (all, rows) => {
    const rule = "+------+-----+";
    return [
      rule,
      bars(all.map(([name]) => name)),
      rule,
      ...Array<string>(rows).fill(bars(all.map(([, value]) => value))),
      rule,
    ].join("\n");
  },
  "columns below dashes": (all, rows) => padded(all, rows, " ", true),
  "columns apart by blanks": (all, rows) => padded(all, rows, "   ", false),
  "YAML, a list of mappings": (all, rows) =>
    `# people\nlist:\n${all
      .map(([name, value], i) => `  ${i === 0 ? "- " : "  "}${name}: ${i % 2 === 0 ? value : `"${value}"`}\n`)
      .join("")
      .repeat(rows)}last: 1\n`,
  "YAML, deeper and over lines": (all, rows) =>
    `---\nspec:\n${Array.from({ length: rows }, (_, row) => `  r${row}:\n${all.map(([name, value], i) => (i % 2 === 0 ? `    ${name}: !!str &a${i} ${value} # so\n` : `    ${name}: |\n      ${value}\n`)).join("")}`).join("")}`,
  "an environment": (all, rows) =>
    all
      .map(([name, value], i) => `${i % 2 === 0 ? "export " : ""}${name}='${value}'\n`)
      .join("")
      .repeat(rows),
  "an INI file": (all, rows) =>
    `; of today\n${Array.from({ length: rows }, (_, row) => `[r${row}]\n${all.map(([name, value]) => `${name} = ${value}\r\n`).join("")}`).join("\n")}`,
  "a file of properties": (all, rows) => all.map(([name, value]) => `app.${name}=${value}\n`.repeat(rows)).join(""),
  "columns apart by tabs": (all, rows) =>
    `Report of May\n\n${[all.map(([name]) => name), ...Array<readonly string[]>(rows).fill(all.map(([, value]) => value))].map((cells) => cells.join("\t")).join("\n")}\n`,
};

describe("a value is hidden under a name that says what it is, as it is under that member of JSON", () => {
  test.each(Object.entries(FORMS))("%s", (_, write) => {
    fc.assert(
      fc.property(members, fc.integer({ min: 1, max: 4 }), (all, rows) => {
        const text = write(all, rows);
        const out = redacted(text);
        for (const [name, value] of all) {
          const isElsewhere = all.some(([other, same]) => other !== name && (same.includes(value) || other.includes(value)));
          if (isHidden(name, value) && !isElsewhere) expect(out, text).not.toContain(value);
        }
        expect(redacted(out)).toBe(out);
      }),
      { numRuns: 12 },
    );
  });

  test.each(Object.entries(FORMS))("and counts for the tier: %s", (_, write) => {
    for (const [name, value] of [
      ["diagnosis", "Quorvath"],
      ["accountNumber", "4711-08"],
    ] as const)
      expect(
        rank(
          write(
            [
              [name, value],
              ["colour", "blue"],
            ],
            2,
          ),
        ),
        name,
      ).toBeGreaterThanOrEqual(rank(JSON.stringify({ [name]: value })));
  });
});

test.each([
  ["an element in one that says what it is", "<diagnosis>it is <b>quorvath</b>, <br>surely</diagnosis>", ["quorvath", "surely"]],
  ["a text in quotes that holds some", "INSERT INTO t (last_name, id) VALUES ('O''Quorvath', 1)", ["Quorvath"]],
  [
    "a text that ends with a backslash",
    "insert into t (last_name, religion) values ('Quorvath\\', 'zzyx')",
    ["Quorvath", "zzyx"],
  ],
  ["values that stand further right than their names", "name  last_name\n x     Quorvath Zed", ["Quorvath"]],
  ["markup in character references", "&lt;lastName&gt;Quorvath&lt;/lastName&gt;", ["Quorvath"]],
  ["a statement within JSON", JSON.stringify({ log: "INSERT INTO t (last_name) VALUES ('Quorvath')" }), ["Quorvath"]],
  ["a table in a quotation", "> | last name | x |\n> |---|---|\n> | Quorvath | 1 |", ["Quorvath"]],
])("%s is hidden", (_, text, values) => {
  for (const value of values) expect(redacted(text)).not.toContain(value);
});

test.each([
  "<groupId>org.example</groupId><version>1.2.3</version>",
  `<password>$${"{DB_PASSWORD}"}</password>`,
  '<xs:element name="ssn" type="xs:string"/>',
  "<th>password</th><th>ssn</th>",
  '<label name="password">Your secret word</label><a name="address">Where we are</a>',
  "use <password> of <user>, then <b>go</b>",
  "if a <salary and b> c then </x>",
  "INSERT INTO users (id, password) VALUES (?, ?), (:id, NULL), (@x, default)",
  "INSERT INTO metrics (id, version) VALUES (1, '1.2.3')",
  "| Option | Default |\n|---|---|\n| timeout | 30 |",
  "NAME      READY   STATUS\nweb-7f9   1/1     Running",
  "a && b || c\n-----------\nd || e",
  "Notes    of the day\nwe went  home",
  "<height>12</height><width>3</width>",
])("nothing to hide: %s", (text) => expect(redacted(text)).toBe(text));

test("only recognisers that look under names find what stands there", () => {
  const text = "<lastName>Quorvath</lastName><diagnosis>zzyx</diagnosis>";
  const of = (entities: readonly string[]) => DEFAULT_RECOGNISERS.filter(({ entity }) => entities.includes(entity));
  expect(recognise(text, of(["PERSON"])).map(({ entity }) => entity)).toEqual(["PERSON"]);
  expect(recognise(text, of(["EMAIL_ADDRESS", "HEALTH_DATA"])).map(({ entity }) => entity)).toEqual(["HEALTH_DATA"]);
  expect(recognise(text, DEFAULT_RECOGNISERS, { entities: new Set(["PERSON"]) }).map(({ entity }) => entity)).toEqual(["PERSON"]);
});

describe("in FHIR a value is called by what the resource says of it", () => {
  const PATIENT = {
    resourceType: "Patient",
    identifier: [
      { use: "usual", system: "http://hl7.org/fhir/sid/us-ssn", value: "Q-536" },
      {
        type: { coding: [{ system: "http://terminology.hl7.org/CodeSystem/v2-0203", code: "PPN", display: "Passport number" }] },
        value: "zz-7",
      },
    ],
    name: [{ use: "official", family: "Quorvath", given: ["Zedda", "Q."] }],
    birthDate: "1990-05-06",
    extension: [{ url: "http://hl7.org/fhir/StructureDefinition/patient-birthPlace", valueString: "Quorton" }],
  };
  const OBSERVATION = {
    resourceType: "Observation",
    code: { coding: [{ system: "http://loinc.org", code: "29308-4", display: "Diagnosis" }] },
    valueString: "quorosis",
    component: [{ code: { text: "Annual salary" }, valueQuantity: { value: 58123, unit: "USD" } }],
  };
  const ANSWERS = { item: [{ linkId: "7", text: "What is your passport number?", answer: [{ valueString: "zq-77" }] }] };
  const VALUES: readonly (readonly [object, readonly string[]])[] = [
    [PATIENT, ["Q-536", "zz-7", "Quorvath", "Zedda", "1990-05-06", "Quorton"]],
    [OBSERVATION, ["quorosis", "58123"]],
    [ANSWERS, ["zq-77"]],
  ];

  test.each(VALUES)("JSON %#", (resource, values) => {
    const text = JSON.stringify(resource);
    const out = redactJson(text, options).text;
    for (const value of values) expect(out).not.toContain(value);
    expect(redactJson(out, options).text).toBe(out);
  });

  test("XML", () => {
    const coded = (display: string) =>
      `<code><coding><system value="http://loinc.org"/><display value="${display}"/></coding></code>`;
    const text = `<Bundle xmlns="http://hl7.org/fhir"><Patient><identifier><system value="http://hl7.org/fhir/sid/us-ssn"/><value value="536-22-6728"/></identifier><birthDate value="1990-05-06"/></Patient><Observation>${coded("Diagnosis")}<valueString value="quorosis"/></Observation></Bundle>`;
    const out = redacted(text);
    for (const value of ["536-22-6728", "1990-05-06", "quorosis"]) expect(out).not.toContain(value);
    expect(out).toContain("http://loinc.org");
    expect(redacted(out)).toBe(out);
  });

  test("what a member is called counts for the tier", () => {
    for (const pair of [{ name: "diagnosis", value: "quorosis" }, OBSERVATION])
      expect(rank(JSON.stringify(pair))).toBe(tierRank(policy, "RESTRICTED"));
    expect(rank(JSON.stringify({ name: "colour", value: "blue" }))).toBeLessThan(tierRank(policy, "CONFIDENTIAL"));
  });
});

describe("the health of a service is nobody's", () => {
  const SERVICE = ["ok", "UP", "healthy", "green", "DEGRADED", "out_of_service", "99.5 %", "200"];
  test.each([{ health: { status: "" } }, { health_status: "" }, { node: { health: { status: "", info: "" } } }])(
    "%j",
    (shape) => {
      for (const status of SERVICE) {
        const text = JSON.stringify(shape).replaceAll('""', JSON.stringify(status));
        expect(redactJson(text, options).text).toBe(text);
        expect(rank(text), text).toBeLessThan(tierRank(policy, "CONFIDENTIAL"));
      }
      const ill = JSON.stringify(shape).replaceAll('""', '"quorosis"');
      expect(redactJson(ill, options).text).not.toContain("quorosis");
    },
  );

  test("where persons are spoken of it is theirs", () => {
    const text = JSON.stringify({ patient: { health_status: "unknown", ssn: "536226728" } });
    expect(redactJson(text, options).text).not.toContain("unknown");
    expect(rank(JSON.stringify({ patients: [{ health_status: "critical" }] }))).toBe(tierRank(policy, "RESTRICTED"));
  });
});

describe("rows without columns are of the table that the text creates", () => {
  const insert = (table: string) => `INSERT INTO ${table} VALUES (1, 'zzyx');`;
  const create = (table: string, column: string) => `CREATE TABLE ${table} (id int, ${column} text);`;

  test.each([
    [`${create("crm.people", "diagnosis")} ${insert("crm.people")}`, true],
    [`${insert("people")} ${create('"CRM"."People"', "diagnosis")}`, true],
    [`${create("people", "diagnosis")} ${insert("crm.people")}`, true],
    [`${create("crm.people", "diagnosis")} ${insert("hr.people")}`, false],
    [`${create("hr.people", "colour")} ${create("crm.people", "diagnosis")} ${insert("people")}`, true],
    [`${create("people", "colour")} ${insert("people")}`, false],
    [insert("people"), false],
    [
      "create table people (id int, key (id), index key (id), unique (id), diagnosis text); insert into people values (1, 'zzyx');",
      true,
    ],
    ["create table people (id int, `key` varchar(20), diagnosis text); insert into people values (1, 'a', 'zzyx');", true],
    ["create table people (id int, key varchar (20), diagnosis text); insert into people values (1, 'a', 'zzyx');", true],
    ["create table people (id int /* , */, -- one, two\n diagnosis text); insert into people values (1, 'zzyx');", true],
  ])("%s", (text, hidden) => {
    expect(redacted(text).includes("zzyx")).toBe(!hidden);
  });

  test.each([
    ["update people set diagnosis = 'zzyx'", true],
    ["UPDATE people SET at = now(), diagnosis := lower('zzyx') WHERE id = 1", true],
    ["update people set colour = 'zzyx' where diagnosis = 'flu'", false],
    ["update people set colour = 'blue', note = 'zzyx'", false],
    ["we update the page and set aside = 'zzyx'", false],
  ])("%s", (text, hidden) => {
    expect(redacted(text).includes("zzyx")).toBe(!hidden);
  });

  test("is searched to its end, however often a statement begins", () => {
    for (const piece of [
      "create table t (",
      "create table t (a int); insert into t values ",
      "update t set ",
      "update t set (a, b) = (",
      "insert into t values ('",
      "update t set a = 'x', ",
    ]) {
      const text = piece.repeat(Math.ceil(60_000 / piece.length));
      expect(redacted(text).length).toBeGreaterThan(0);
    }
  });
});

describe("a column of CSV that says how services are", () => {
  const states = "service,health_status\napi,healthy\ndb,DEGRADED\ncache,out_of_service\nmail,\n";
  test("is nobody's health, and is kept", () => {
    expect(redactCsv(states, options).text).toBe(states);
    expect(rank(states)).toBeLessThan(tierRank(policy, "CONFIDENTIAL"));
  });

  test("is somebody's where one value is no state, or where persons are spoken of", () => {
    const ill = `${states}queue,quorosis\n`;
    for (const value of ["healthy", "DEGRADED", "quorosis"]) expect(redactCsv(ill, options).text).not.toContain(value);
    const people = states.replace("service", "patient_id");
    expect(redactCsv(people, options).text).not.toContain("DEGRADED");
    expect(redactCsv(states, { ...options, about: "patients" }).text).not.toContain("DEGRADED");
    const done = redactCsv(ill, options).text;
    expect(redactCsv(done, options).text).toBe(done);
  });
});

describe("a cell of a table that goes over lines is hidden in each of them", () => {
  const CUT: Readonly<Record<string, (name: string, pieces: readonly string[]) => string>> = {
    "a grid": (name, pieces) =>
      [
        "+----+----------------+",
        `| id | ${name} |`,
        "+====+================+",
        ...[1, 2].flatMap((id) => [
          ...pieces.map((piece, i) => `| ${i === 0 ? id : " "}  | ${piece} |`),
          "+----+----------------+",
        ]),
      ].join("\n"),
    "bars without rules": (name, pieces) =>
      [
        `| id | ${name} |`,
        "|---|---|",
        ...[1, 2].flatMap((id) => pieces.map((piece, i) => `| ${i === 0 ? id : ""} | ${piece} |`)),
      ].join("\n"),
  };
  test.each(Object.entries(CUT))("%s", (_, write) =>
    fc.assert(
      fc.property(
        fc.constantFrom(
          ["ssn", "536-22-", "8726"],
          ["dateOfBirth", "1990-", "05-06"],
          ["credit_card", "4111 1111", "1111 1111"],
          ["last_name", "Quorvath-", "Zelniker"],
          ["colour", "dark", "blue"],
        ),
        ([name, ...pieces]) => {
          const out = redacted(write(name as string, pieces));
          for (const piece of pieces) expect(out.includes(piece)).toBe(name === "colour");
        },
      ),
    ),
  );
});

describe("what looks like settings and is none", () => {
  test.each([
    "interface Person {\n  lastName: string;\n  ssn: string;\n}",
    "const schema = {\n  lastName: z.string(),\n  password: z.string(),\n};",
    "type Person {\n  lastName: String!\n  diagnosis: [Code!]\n}",
    "class Person:\n    last_name: str\n    ssn: str | None\n",
    "components:\n  password:\n    type: string\n    description: as it is\n",
    "lastName: Quorvath",
    "Please note: it rains\nand remember: it pours",
  ])("%s", (text) => expect(redacted(text)).toBe(text));
});
