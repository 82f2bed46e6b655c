import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  authSettings,
  describeConfig,
  duration,
  envName,
  file as fileSetting,
  loadConfig,
  logSettings,
  namedFiles,
  parseDuration,
  secret,
  serverSettings,
} from "../../src/platform/index.ts";

const schema = z.strictObject({
  server: serverSettings(8443),
  auth: authSettings,
  log: logSettings,
  database: z.strictObject({ url: secret().optional() }).prefault({}),
  scrub_interval_h: z.int().min(1).default(24),
});

const file = (text: string) => ({ file: { name: "seneschal.yaml", text } });

describe("configuration", () => {
  test("without any source the defaults are in force", () => {
    const config = loadConfig(schema, {});
    expect(config.server).toMatchObject({ host: "127.0.0.1", port: 8443, read_timeout: 30_000, idle_timeout: 120_000 });
    expect(config.auth.jwt.clock_skew).toBe(30_000);
  });

  test("flags win over the environment, which wins over the file", () => {
    const env = { SENESCHAL_SERVER_PORT: "2", SENESCHAL_SERVER_HOST: "::1", PATH: "/bin" };
    const config = loadConfig(schema, { ...file("server: {port: 1, instance_id: a}"), env, flags: { "server.port": "3" } });
    expect(config.server).toMatchObject({ port: 3, host: "::1", instance_id: "a" });
  });

  test("every member of a setting that is of one kind or another has its name, is set by it, and is masked when it is secret", () => {
    const login = z.strictObject({ kind: z.literal("login"), pin: secret(), pin_file: fileSetting("text").optional() });
    const kinds = z.strictObject({
      seal: z.discriminatedUnion("kind", [z.strictObject({ kind: z.literal("none") }), login]).optional(),
    });
    const env = { SENESCHAL_SEAL_KIND: "login", SENESCHAL_SEAL_PIN: "1234", SENESCHAL_SEAL_PIN_FILE: "/pin" };
    const config = loadConfig(kinds, { env });
    expect(config.seal).toEqual({ kind: "login", pin: "1234", pin_file: "/pin" });
    expect(describeConfig(kinds, config)).toEqual({ "seal.kind": "login", "seal.pin": "********", "seal.pin_file": "/pin" });
    expect(namedFiles(kinds, config)).toEqual([{ setting: "seal.pin_file", path: "/pin", holds: "text", read: "once" }]);
    expect(() => loadConfig(kinds, { env: { ...env, SENESCHAL_SEAL_KIND: "none" } })).toThrow(/seal\.pin: unknown setting/);
  });

  test("a JSON file is a YAML file", () => {
    expect(loadConfig(schema, file('{"scrub_interval_h": 7}')).scrub_interval_h).toBe(7);
  });

  test("the names of the interface documents are settings", () => {
    const config = loadConfig(schema, {
      ...file(
        "auth:\n  mtls: {enabled: true, required: true, trusted_ca: ca.pem, crl_url: 'https://crl.test/x'}\n" +
          "  jwt: {enabled: true, public_key: k.pem, issuer: i, audiences: [a], clock_skew: 1m}\n" +
          "  oidc: {enabled: true, issuer_url: 'https://idp.test', client_id: c, required_scopes: [openid, profile]}\n",
      ),
      env: { SENESCHAL_AUTH_OIDC_REQUIRED_SCOPES: "openid, email" },
    });
    expect(config.auth.mtls.required).toBe(true);
    expect(config.auth.jwt.clock_skew).toBe(60_000);
    expect(config.auth.oidc.required_scopes).toEqual(["openid", "email"]);
  });

  test.each([
    ["a mistyped key of the file", file("servr: {}"), "servr: unknown setting"],
    ["a mistyped nested key", file("server: {prt: 1}"), "server.prt: unknown setting"],
    [
      "a mistyped environment name",
      { env: { SENESCHAL_SERVER_PROT: "1" } },
      "environment SENESCHAL_SERVER_PROT: unknown setting",
    ],
    ["a mistyped flag", { flags: { "server.prot": "1" } }, "flag server.prot: unknown setting"],
    ["a number that is none", { env: { SENESCHAL_SERVER_PORT: "x" } }, "environment SENESCHAL_SERVER_PORT: expected a number"],
    ["a switch that is none", { env: { SENESCHAL_AUTH_JWT_ENABLED: "yes" } }, "expected true or false"],
    ["a duration that is none", file("server: {read_timeout: 30}"), "server.read_timeout"],
    ["a duration without a unit", file("server: {read_timeout: '30'}"), "expected a duration"],
    ["a port out of range", file("server: {port: 70000}"), "server.port"],
    ["a certificate without its key", file("server: {tls_cert: a.pem}"), "tls_cert and tls_key belong together"],
    [
      "revocation lists without the CAs whose they are",
      file("auth: {mtls: {enabled: true, crl_url: 'file:///x'}}"),
      "crl_url needs trusted_ca",
    ],
    ["text that is no YAML", file("a: [1"), "seneschal.yaml"],
    ["a list instead of settings", file("[1]"), "expected settings by name"],
    ["a key given twice", file("log: {}\nlog: {}"), "seneschal.yaml"],
  ])("%s stops the start", (_, sources, problem) => {
    expect(() => loadConfig(schema, sources)).toThrow(expect.objectContaining({ code: "config_invalid" }));
    expect(() => loadConfig(schema, sources)).toThrow(problem);
  });

  test("every problem is named at once", () => {
    const sources = { ...file("servr: 1\nlog: {level: loud}"), env: { SENESCHAL_NOPE: "1" } };
    expect(() => loadConfig(schema, sources)).toThrow(/NOPE.*log\.level.*servr/);
  });

  test("no value appears in an error", () => {
    const sources = { ...file("database: {url: [hunter2]}\nbad: hunter2"), env: { SENESCHAL_SERVER_PORT: "hunter2" } };
    expect(() => loadConfig(schema, sources)).toThrow(expect.not.stringContaining("hunter2"));
    expect(() => loadConfig(schema, file("a: hunter2\n  b: hunter2"))).toThrow(expect.not.stringContaining("hunter2"));
  });

  test("secrets are masked in print, everything else is shown", () => {
    const shown = describeConfig(schema, loadConfig(schema, { env: { SENESCHAL_DATABASE_URL: "postgres://u:hunter2@h/d" } }));
    expect(shown).toMatchObject({ "database.url": "********", "server.port": 8443, "server.tls_key": null });
    expect(JSON.stringify(shown)).not.toContain("hunter2");
  });

  test("a secret is masked wherever it stands: in lists, in settings by name, and in structures of both", () => {
    const hook = z.strictObject({ url: z.string(), secret: secret().optional() });
    const deep = z.strictObject({
      headers: z.record(z.string(), secret()).default({}),
      hooks: z.array(hook).default([]),
      sinks: z
        .record(
          z.string(),
          hook.refine(() => true),
        )
        .default({}),
    });
    const config = deep.parse({
      headers: { authorization: "hunter2" },
      hooks: [{ url: "u", secret: "hunter2" }, { url: "u" }],
      sinks: { siem: { url: "u", secret: "hunter2" } },
    });
    expect(describeConfig(deep, config)).toEqual({
      headers: { authorization: "********" },
      hooks: [{ url: "u", secret: "********" }, { url: "u" }],
      sinks: { siem: { url: "u", secret: "********" } },
    });
  });

  test("what may be a secret in a URL is masked wherever the URL stands, and the rest is shown", () => {
    const anywhere = z.strictObject({
      one: z.url(),
      text: z.string(),
      list: z.array(z.url()),
      named: z.record(z.string(), z.union([z.url(), z.strictObject({ to: z.url() })])),
      kind: z.discriminatedUnion("kind", [z.strictObject({ kind: z.literal("http"), address: z.url().optional() })]),
      free: z.unknown(),
    });
    const of = (url: string) => ({
      one: url,
      text: url,
      list: [url, url],
      named: { a: url, b: { to: url } },
      kind: { kind: "http", address: url },
      free: { deep: [url] },
    });
    for (const [url, shown] of [
      ["https://h.test/in?token=hunter2", "https://h.test/in?********"],
      ["https://h.test/in#hunter2", "https://h.test/in#********"],
      ["https://hunter2@h.test:8443/in", "https://********@h.test:8443/in"],
      ["https://u:hunter2@h.test/", "https://********@h.test/"],
      ["https:u:hunter2@h.test", "https://********@h.test/"],
      ["\thttps:\\\\u:hunter2@h.test", "https://********@h.test/"],
      ["redis://:hunter2@h.test/0?a=hunter2", "redis://********@h.test/0?********"],
      ["https://h.test/in/", "https://h.test/in/"],
      ["http://10.0.0.1:2379", "http://10.0.0.1:2379"],
    ] as const) {
      const told = describeConfig(anywhere, of(url));
      expect(JSON.stringify(told)).not.toContain("hunter2");
      const { kind, ...rest } = of(shown);
      expect(told).toEqual({ ...rest, "kind.kind": kind.kind, "kind.address": kind.address });
    }
  });

  test("an ambiguous environment name is a mistake of the schema", () => {
    const ambiguous = z.strictObject({ a_b: z.string().optional(), a: z.strictObject({ b: z.string().optional() }).optional() });
    expect(() => loadConfig(ambiguous, {})).toThrow(TypeError);
    expect(envName(["a", "b"])).toBe("SENESCHAL_A_B");
  });
});

describe("durations", () => {
  test.each([
    ["0s", 0],
    ["250ms", 250],
    ["30s", 30_000],
    ["15m", 900_000],
    ["720h", 2_592_000_000],
    ["90d", 7_776_000_000],
  ])("%s", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
    expect(duration("1s").parse(text)).toBe(ms);
  });

  test.each(["", "5", "-1s", "1.5h", "1 h", "1w", "01s", "1h30m", "99999999999h"])("%j is none", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});
