import { webhookKey } from "@seneschal/adapters/webhook";
import { isAuditPattern } from "@seneschal/core/audit";
import * as z from "zod";
import { duration } from "../config/duration.ts";
import { file } from "../config/file.ts";
import { capabilityUrl, secret } from "../config/secret.ts";

const pattern = z.string().max(128).refine(isAuditPattern, "expected a type of events, or prefix.* for all that begin so");

const KINDS = ["file", "syslog", "otlp", "webhook"] as const;
type Kind = (typeof KINDS)[number];

/** What a kind cannot do without, and what else is its own. */
const own: Readonly<Record<Kind, { readonly needs: readonly string[]; readonly may: readonly string[] }>> = {
  file: { needs: ["path"], may: ["max_bytes", "keep"] },
  syslog: { needs: ["url"], may: ["ca_file", "cert_file", "key_file"] },
  otlp: { needs: ["url"], may: ["headers", "ca_file", "cert_file", "key_file"] },
  webhook: { needs: ["url", "secret"], may: ["ca_file"] },
};
const ofKinds = [...new Set(Object.values(own).flatMap(({ needs, may }) => [...needs, ...may]))];

const protocols: Readonly<Record<Exclude<Kind, "file">, readonly string[]>> = {
  syslog: ["tls:", "tcp:", "udp:"],
  otlp: ["https:", "http:"],
  webhook: ["https:", "http:"],
};

const auditSink = z
  .strictObject({
    kind: z.enum(KINDS),
    /** Of the file of JSON lines. */
    path: z.string().min(1).optional(),
    /** From this size on the file is put away and a new one begun. */
    max_bytes: z.int().min(4096).optional(),
    /** Files that are kept beside the one that is written. */
    keep: z.int().min(0).max(1000).optional(),
    /** `tls`, `tcp` or `udp` for syslog, `https` or `http` with its path for the others. */
    url: capabilityUrl().max(2048).optional(),
    /** Whom to trust about the receiver; without it the public CAs. */
    ca_file: file("authorities").optional(),
    cert_file: file("certificate").optional(),
    key_file: file("private key").optional(),
    headers: z.record(z.string(), secret()).optional(),
    /** As standardwebhooks.com gives it: `whsec_` and the base64 of 24 to 64 bytes. */
    secret: secret()
      .refine((text) => webhookKey(text) !== undefined, "expected whsec_ and the base64 of 24 to 64 bytes")
      .optional(),
    /** Until the receiver has a batch. */
    timeout: duration("10s").refine((ms) => ms >= 100 && ms <= 300_000, "expected 100ms to 5m"),
    /** Whose events; none named: everybody's. */
    organizations: z.array(z.string().min(1).max(128)).max(10_000).default([]),
    /** Which events; none named: all. */
    events: z.array(pattern).max(1000).default([]),
    /** Which of those not. */
    except: z.array(pattern).max(1000).default([]),
    /** The events of the log, or the decisions of a policy, in the form of OPA's decision log. */
    tells: z.enum(["events", "decisions"]).default("events"),
    /** Where a sink that is new begins: at what comes from now on, or at the first event of the log. */
    from: z.enum(["now", "beginning"]).default("now"),
    /** While this sink has not had an event for longer than `max_lag`, requests are refused. */
    required: z.boolean().default(false),
    max_lag: duration("1m").refine((ms) => ms >= 5000, "expected 5s or more: how far a sink is, is looked at each second"),
  })
  .superRefine((sink, context) => {
    const { needs, may } = own[sink.kind];
    const given = sink as Readonly<Record<string, unknown>>;
    const say = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    for (const name of ofKinds) {
      if (needs.includes(name) && given[name] === undefined) say(name, `a sink of kind ${sink.kind} needs it`);
      if (![...needs, ...may].includes(name) && given[name] !== undefined)
        say(name, `a sink of kind ${sink.kind} does not have it`);
    }
    if ((sink.cert_file === undefined) !== (sink.key_file === undefined))
      say("key_file", "cert_file and key_file belong together");
    if (sink.kind === "file" || sink.url === undefined || !URL.canParse(sink.url)) return;
    const { protocol, username, password } = new URL(sink.url);
    if (!protocols[sink.kind].includes(protocol)) say("url", `expected ${protocols[sink.kind].join(" or ")}//`);
    if (username !== "" || password !== "") say("url", "expected a URL without user and password");
    if (sink.kind === "syslog" && protocol !== "tls:" && (sink.ca_file ?? sink.cert_file) !== undefined)
      say("url", "certificates are of tls:// alone");
    if (sink.required && protocol === "udp:") say("required", "nobody knows whether what is sent over udp:// comes to anybody");
  });

export type AuditSinkSettings = z.output<typeof auditSink>;

const sinks = z.record(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, "expected 1 to 40 of a-z, 0-9, _ and -"), auditSink);

/** Where audit events of a service go beside its log, by names for the metrics and the log. */
export const auditSinksSetting = sinks
  .superRefine((given, context) => {
    for (const [name, { tells }] of Object.entries(given))
      if (tells === "decisions")
        context.addIssue({ code: "custom", path: [name, "tells"], message: "this service logs no decisions of policies" });
  })
  .default({});

/** The same of a service whose policies decide. */
export const decisionSinksSetting = sinks.default({});
