import type { JsonSchema } from "./json-schema.ts";

export interface ExampleOptions {
  /** The schema that a reference names. */
  readonly refer: (ref: string) => JsonSchema;
  /** Whether the contract takes a value: rules between members are not in the schema. */
  readonly takes: (value: unknown) => boolean;
}

/**
 * A value for readers of the document that the contract takes: the schema's own where it has `examples`, else one with all members, else
 * with as many as go together. `undefined` where none is found: then the schema has to bring one.
 */
export function exampleOf(schema: JsonSchema, { refer, takes }: ExampleOptions): unknown {
  const whole = build(schema, refer, () => true);
  if (takes(whole)) return whole;
  const { properties = {}, required = [] } = resolved(schema, refer);
  const chosen = new Set(required);
  const some = (): unknown => build(schema, refer, (member) => chosen.has(member));
  // A first pass finds what makes it one that is taken, a second what goes with that.
  for (const pass of [1, 2])
    for (const member of Object.keys(properties)) {
      if (chosen.has(member) || (pass === 1 && takes(some()))) continue;
      chosen.add(member);
      if (!takes(some())) chosen.delete(member);
    }
  const value = some();
  return takes(value) ? value : undefined;
}

const MOMENT = "2026-01-01T00:00:00.000Z";
const FORMATS: Readonly<Record<string, string>> = {
  uuid: "0192f0c1-2d3e-7a4b-8c5d-6e7f80910a1b",
  email: "ada@example.org",
  uri: "https://example.org/",
  "date-time": MOMENT,
};

/** What members of the contracts are shown with, where it fits their schema. */
const BY_NAME: Readonly<Record<string, string | number>> = {
  accepts_tier: "CONFIDENTIAL",
  column: "email",
  columns: "email",
  count: 1,
  country: "DE",
  data: "ZXhhbXBsZQ==",
  department: "research",
  description: "Shared by both organisations",
  destination_resource: "reports",
  dialect: "postgres",
  entity: "EMAIL_ADDRESS",
  expires_at: "2027-01-01T00:00:00.000Z",
  identity_id: "ada",
  message: "done",
  name: "payments",
  node_id: "node-1",
  operation_type: "read",
  org_id: "acme",
  organization_id: "acme",
  path: "/payments",
  purpose: "billing",
  query: "SELECT email FROM customers",
  reason: "quarterly review",
  reasoning: "the policy allows it",
  rego: "package policy\n\nallow := true\n",
  role: "admin",
  source_resources: "customers",
  sql: "SELECT email FROM customers",
  table: "customers",
  tables: "customers",
  tags: "PII",
  tenant_id: "physics",
  text: "write to ada@example.org",
  threshold: 3,
  tier: "CONFIDENTIAL",
  total: 1,
  total_shares: 5,
  user_id: "ada",
  version: 1,
  workspace_id: "0192f0c1-2d3e-7a4b-8c5d-6e7f80910a1b",
};

/** Texts of the forms that the contracts have: the first that fits is shown. Bytes are base64 of 5, 16, 32 and 64. */
const TEXTS = [
  "example",
  "ZXhhbXBsZQ==",
  "c2l4dGVlbiBieXRlcy4uLg==",
  "YSB0ZXh0IG9mIHRoaXJ0eS10d28gYnl0ZXMuLi4uLi4=",
  "YSB0ZXh0IG9mIHNpeHR5LWZvdXIgYnl0ZXMuLi4uLi4uLi4uLi4uLi4uLi4uLi4uLi4uLi4uLi4uLi4uLi4uLg==",
  "-----BEGIN CERTIFICATE-----\n...\n-----END CERTIFICATE-----\n",
  "12",
  "30d",
  "123456",
  "EXAMPLE",
  MOMENT,
  "0123456789abcdef".repeat(4),
];

/** Members that mean something only where something else is there already: a key to sign with, an approval, a parent. They are shown where they are required. */
const DEPENDENT: ReadonlySet<string> = new Set(["approval_id", "crk_signature", "parent", "signature"]);

/** Deeper values are left as small as they may be: recursive schemas have no bottom. */
const DEEP = 6;

type Refer = ExampleOptions["refer"];

function build(given: JsonSchema, refer: Refer, takesMember: (member: string) => boolean, depth = 0, member = ""): unknown {
  const schema = resolved(given, refer);
  const own = schema.examples?.[0] ?? schema.example;
  if (own !== undefined) return own;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const choice = (schema.anyOf ?? schema.oneOf)?.find((one) => one.type !== "null");
  if (choice !== undefined) return build(choice, refer, takesMember, depth, member);
  switch ([schema.type].flat().find((type) => type !== "null")) {
    case "object":
      return object(schema, refer, takesMember, depth);
    case "array": {
      const length = Math.max(schema.minItems ?? 0, depth < DEEP ? 1 : 0);
      return Array.from({ length }, () => build(schema.items ?? {}, refer, takesMember, depth + 1, member));
    }
    case "integer":
    case "number": {
      const { minimum, exclusiveMinimum } = schema;
      const least = minimum ?? (typeof exclusiveMinimum === "number" ? exclusiveMinimum + 1 : 1);
      const usual = BY_NAME[member];
      return schema.default ?? Math.min(Math.max(least, typeof usual === "number" ? usual : 1), schema.maximum ?? Infinity);
    }
    case "boolean":
      return schema.default ?? true;
    default:
      return schema.default || text(schema, member);
  }
}

function object(
  { properties = {}, required = [], additionalProperties, propertyNames = {} }: JsonSchema,
  refer: Refer,
  takesMember: (member: string) => boolean,
  depth: number,
): unknown {
  const members = Object.keys(properties).filter(
    (name) => required.includes(name) || (depth < DEEP && !DEPENDENT.has(name) && takesMember(name)),
  );
  const named = members.map((name) => [name, build(properties[name] ?? {}, refer, takesMember, depth + 1, name)]);
  const open = typeof additionalProperties === "object" && Object.keys(properties).length === 0 && depth < DEEP;
  const free = open
    ? [
        [
          build({ type: "string", ...propertyNames }, refer, takesMember),
          build(additionalProperties, refer, takesMember, depth + 1),
        ],
      ]
    : [];
  return Object.fromEntries([...named, ...free]);
}

function text({ format = "", pattern, minLength = 0, maxLength = Infinity }: JsonSchema, member: string): string {
  const form = pattern === undefined ? /(?:)/ : new RegExp(pattern, "u");
  const fits = (one: string) => form.test(one) && one.length >= minLength && one.length <= maxLength;
  const usual = [FORMATS[format], format === "" ? BY_NAME[member] : undefined].filter((one) => typeof one === "string");
  return [...usual, ...TEXTS].find(fits) ?? "example".padEnd(minLength, ".");
}

function resolved(schema: JsonSchema, refer: Refer): JsonSchema {
  return schema.$ref === undefined ? schema : resolved(refer(schema.$ref), refer);
}
