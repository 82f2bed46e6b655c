import * as z from "zod";
import { isLoopback } from "../../platform/config/loopback.ts";
import { duration, file, s3Bucket } from "../../platform/index.ts";
import { organizationSetting } from "../organization.ts";

const pattern = z.string().min(1).max(1024);
const name = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, "expected 1 to 40 of a-z, 0-9, _ and -");

const common = {
  /** Whose catalogue what is found goes to; without it that of `organization`. */
  organization: organizationSetting.optional(),
  /** A scan begins so long after the last one began. */
  schedule: duration("24h").refine((ms) => ms >= 60_000, "expected 1m or more"),
  /** Patterns of names, with `*` for any text and `?` for any character: one of these, where there are any, */
  include: z.array(pattern).max(100).default([]),
  /** and none of these. */
  exclude: z.array(pattern).max(100).default([]),
  /** Tables or files of one scan; that there are more is a fault which is seen. */
  max_assets: z.int().min(1).max(100_000).default(10_000),
  /** Until the source has answered one call. */
  timeout: duration("30s").refine((ms) => ms >= 1000 && ms <= 600_000, "expected 1s to 10m"),
  /** CAs that the source's certificate is checked against; without it the host's. */
  ca_file: file("authorities", "at each use").optional(),
};
/** Values of one column that are looked at. */
const rows = z.int().min(1).max(1000).default(200);

const postgres = z.strictObject({
  ...common,
  kind: z.literal("postgres"),
  host: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535).default(5432),
  database: z.string().min(1).max(63),
  /** A role that may read and nothing else; never a superuser. */
  user: z.string().min(1).max(63),
  password_file: file("secret", "at each use").optional(),
  /** `off`: to this machine alone. */
  tls: z.enum(["verify-full", "off"]).default("verify-full"),
  sample: z.strictObject({ rows }).prefault({}),
});

const s3 = z.strictObject({
  ...common,
  ...s3Bucket.omit({ secret_key: true }).shape,
  kind: z.literal("s3"),
  secret_key_file: file("secret", "at each use"),
  prefix: z.string().max(1024).default(""),
  /** `bytes`: of one object. */
  sample: z.strictObject({ rows, bytes: z.int().min(65_536).max(1_073_741_824).default(16_777_216) }).prefault({}),
});

const source = z.discriminatedUnion("kind", [postgres, s3]).superRefine((given, context) => {
  const say = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  if (given.kind === "postgres") {
    if (given.tls === "off" && !isLoopback(given.host)) say("tls", "off is for this machine alone");
    if (given.tls === "off" && given.ca_file !== undefined) say("ca_file", "there is no certificate to check without TLS");
    return;
  }
  if (!URL.canParse(given.endpoint)) return;
  const { protocol, hostname, username, password, href, origin } = new URL(given.endpoint);
  if (protocol !== "https:" && !(protocol === "http:" && isLoopback(hostname)))
    say("endpoint", "expected https, or http to this machine");
  if (username !== "" || password !== "" || href !== `${origin}/`)
    say("endpoint", "expected a URL without user, password, path, query and fragment");
});

export type SourceSettings = z.output<typeof source>;

/** Stores of data that are scanned, by names for the interface, the metrics and the log. */
export const sourcesSetting = z.record(name, source).default({});
