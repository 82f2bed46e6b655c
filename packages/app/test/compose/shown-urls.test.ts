import { expect, test } from "vitest";
import type * as z from "zod";
import { processSettings } from "../../src/compose/process-settings.ts";
import { wrapped } from "../../src/platform/config/leaves.ts";
import { describeConfig } from "../../src/platform/index.ts";

/** URLs whose paths `config check` shows, by the reason that nobody gets in by one. */
const shown: Readonly<Record<string, readonly string[]>> = {
  "public: whoever verifies a certificate or a token reads it": [
    "auth.mtls.crl_url",
    "auth.oidc.issuer_url",
    "gateway.pki.public_url",
  ],
  "what lets in is a setting of its own: a token, a login, an access key, a certificate": [
    "gateway.policy_engine.url",
    "gateway.vault.address",
    "gateway.vault.seal.address",
    "governance.classification.recogniser.url",
    "governance.models.upstream",
    "governance.policy_engine.url",
    "scheduler.accounting.url",
    "scheduler.cluster.address",
    "scheduler.storage.endpoints.0",
    "storage.cluster.endpoints.0",
    "storage.tenant_vaults.name.address",
    "storage.tenant_vaults.name.seal.address",
    "storage.vault.address",
    "storage.vault.seal.address",
  ],
  "an S3 server, whose requests are signed": [
    "gateway.audit.archive.to.s3.endpoint",
    "governance.audit.archive.to.s3.endpoint",
    "governance.sources.name.endpoint",
    "storage.backup.s3.endpoint",
    "storage.replication.destinations.0.endpoint",
  ],
};

/** A setting that takes a URL: its path, and the tree that holds one there. */
interface Place {
  readonly path: string;
  readonly holding: (url: string) => unknown;
}

function placesOf(schema: z.core.$ZodType, path: readonly string[] = []): readonly Place[] {
  const inner = wrapped(schema);
  if (inner !== undefined) return placesOf(inner, path);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const below = (places: readonly Place[], wrap: (value: unknown) => unknown): readonly Place[] =>
    places.map((place) => ({ path: place.path, holding: (url) => wrap(place.holding(url)) }));
  switch (def.type) {
    case "object":
      return Object.entries(def.shape).flatMap(([key, child]) =>
        below(placesOf(child, [...path, key]), (value) => ({ [key]: value })),
      );
    case "array":
      return below(placesOf(def.element, [...path, "0"]), (value) => [value]);
    case "record":
      return below(placesOf(def.valueType, [...path, "name"]), (value) => ({ name: value }));
    case "union":
      return def.options.flatMap((option) => placesOf(option, path));
    case "string":
      return "format" in def && def.format === "url" ? [{ path: path.join("."), holding: (url) => url }] : [];
    default:
      return [];
  }
}

test("no URL shows user, query or fragment, and its path only where it lets nobody in", () => {
  const places = placesOf(processSettings);
  expect(places.length).toBeGreaterThan(20);
  const told = places.filter(({ holding }) => {
    const text = JSON.stringify(
      describeConfig(processSettings, holding("https://canary-u:canary-p@h.test/canary-path?k=canary-q#canary-f")),
    );
    expect(text).not.toMatch(/canary-[upqf]\b/);
    expect(text).toContain("h.test");
    return text.includes("canary-path");
  });
  expect([...new Set(told.map(({ path }) => path))].sort()).toEqual(Object.values(shown).flat().sort());
});
