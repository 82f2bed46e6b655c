import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import type { Principal, Route } from "@seneschal/contract";
import { governanceContract, modelContract } from "@seneschal/contract/governance";
import { schedulerContract } from "@seneschal/contract/scheduler";
import { storageContract } from "@seneschal/contract/storage";
import type { JsonObject } from "@seneschal/kernel";
import { describe, expect, test } from "vitest";
import { type AuthorisationOptions, openAuthorisation, questionOf } from "../../src/platform/index.ts";
import { rolesOf } from "../scheduler/authorisation-table.ts";

const shipped = (service: AuthorisationOptions["service"], settings: JsonObject = {}) =>
  openAuthorisation({ engine: embeddedPolicyEngine(), service, source: undefined, settings });

const guarded = (contract: object): readonly Route[] =>
  Object.values(contract as Readonly<Record<string, Route>>).filter((route) => route.auth !== "public");

const caller = (type: string, roles: readonly string[], scopes: readonly string[] = [], org = "own"): Principal => ({
  id: "x",
  type,
  org,
  roles,
  scopes,
  method: "token",
});
const ORGS = ["own", "foreign"];
const STRANGE = ["", "constructor", "__proto__", "storage:steal"].map(
  (action) => ({ method: "GET", path: "/", action }) as Route,
);

describe("policies/authz/scheduler.rego", () => {
  test("says what the table says, for every route and role; what of a tenant it reaches, tenant and owner decide", async () => {
    const policy = await shipped("scheduler");
    const roles = [...new Set(Object.values(rolesOf).flat()), "root", ""];
    for (const route of [...guarded(schedulerContract), ...STRANGE]) {
      for (const held of [[], ...roles.map((role) => [role]), ["user", "agent"]]) {
        for (const org of ORGS) {
          const question = questionOf({ route, principal: caller("user", held) }, { org });
          const { allowed } = await policy.decide(question, 0);
          const want =
            Object.hasOwn(rolesOf, route.action ?? "") && held.some((role) => rolesOf[route.action ?? ""]?.includes(role));
          expect([route.action, held, org, allowed]).toEqual([route.action, held, org, want]);
        }
      }
    }
    expect(
      guarded(schedulerContract)
        .map(({ action }) => action)
        .filter((action) => !Object.hasOwn(rolesOf, action ?? "")),
    ).toEqual([]);
  });

  test("names the roles that would do", async () => {
    const decision = await (await shipped("scheduler")).decide(
      questionOf({ route: schedulerContract.updateTenant, principal: caller("user", ["user"]) }),
      0,
    );
    expect(decision).toMatchObject({ allowed: false, reason: "this needs one of the roles accounting, system-admin" });
  });
});

describe("policies/authz/governance.rego", () => {
  const SCOPES = [
    "classify",
    "redact",
    "restore",
    "evaluate",
    "approve",
    "models",
    "lineage:read",
    "lineage:write",
    "resources:write",
    "audit:read",
    "admin",
  ];
  /** The scopes that open each action. Who asks for an approval and who gives it both see it. */
  const openedBy: Readonly<Record<string, readonly string[]>> = {
    ...Object.fromEntries(SCOPES.map((scope) => [scope, [scope, "admin"]])),
    "approvals:read": ["evaluate", "approve", "admin"],
  };

  test("opens to a key what its scopes name, and everything to admin; a role opens nothing", async () => {
    const policy = await shipped("governance", { anonymous: SCOPES });
    for (const route of [...guarded({ ...governanceContract, ...modelContract() }), ...STRANGE]) {
      const { action = "" } = route;
      const opening = Object.hasOwn(openedBy, action) ? openedBy[action] : [];
      for (const scope of [undefined, ...SCOPES, "constructor", ""]) {
        for (const org of ORGS) {
          const principal = caller("apikey", ["admin"], scope === undefined ? [] : [scope]);
          const { allowed } = await policy.decide(questionOf({ route, principal }, { org }), 0);
          expect([action, scope, org, allowed]).toEqual([action, scope, org, opening?.includes(scope ?? "no scope")]);
        }
      }
    }
    expect(new Set(guarded({ ...governanceContract, ...modelContract() }).map(({ action }) => action))).toEqual(
      new Set(Object.keys(openedBy)),
    );
  });

  test("opens to a caller without a key what the configuration names, and nothing else", async () => {
    const policy = await shipped("governance", { anonymous: ["classify"] });
    for (const route of guarded(governanceContract)) {
      const decision = await policy.decide(questionOf({ route, principal: undefined }), 0);
      expect([route.action, decision]).toMatchObject([
        route.action,
        route.action === "classify" ? { allowed: true } : { allowed: false, reason: "an API key is needed" },
      ]);
    }
  });
});

describe("policies/authz/storage.rego", () => {
  const all = ["cluster-admin", "sre-on-call", "sre-incident-response"];
  const table: Readonly<Record<string, readonly string[]>> = {
    "storage:read": all,
    "storage:session": all,
    "storage:operate": ["cluster-admin", "sre-incident-response"],
    "storage:admin": ["cluster-admin"],
  };

  test.each([true, false])("says what the table says, for every route and role; open status: %s", async (open_status) => {
    const policy = await shipped("storage", { open_status });
    for (const route of [...guarded(storageContract), ...STRANGE]) {
      const action = route.action ?? "";
      for (const role of [undefined, ...all, "root"]) {
        const principal = role === undefined ? undefined : caller("admin", [role]);
        const { allowed } = await policy.decide(questionOf({ route, principal }), 0);
        const granted = role !== undefined && Object.hasOwn(table, action) && table[action]?.includes(role) === true;
        expect([action, role, allowed]).toEqual([action, role, granted || (open_status && action === "storage:read")]);
      }
    }
    expect(new Set(guarded(storageContract).map(({ action }) => action))).toEqual(new Set(Object.keys(table)));
  });

  test("says what the table says of the data path, for every kind of certificate and own, foreign and no tenant", async () => {
    const policy = await shipped("storage");
    const objects = { tenant: ["own"], server: ["own", "foreign"], loopback: ["own", "foreign"] };
    const any = ["own", "foreign", ""];
    const dataPath: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
      "objects:read": objects,
      "objects:write": objects,
      "peers:use": { server: any, loopback: any },
      "keys:use": { server: any, keyserver: any, loopback: any },
      "cluster:maintain": { server: any, admin: any, loopback: any },
      "storage:admin": { admin: any, loopback: any },
      "objects:steal": {},
      "": {},
    };
    const units: Readonly<Record<string, string>> = {
      tenant: "tenant",
      server: "store-server",
      keyserver: "store-keyserver",
      admin: "cluster-admin",
      loopback: "loopback",
      anonymous: "",
    };
    for (const [action, open] of Object.entries(dataPath)) {
      for (const [type, unit] of Object.entries(units)) {
        for (const org of any) {
          const subject = { id: "x", type, org: "own", roles: [unit], scopes: [], permissions: [] };
          const resource = { type: "", id: "", org, workspace: "" };
          const { allowed } = await policy.decide({ subject, action, resource, context: { method: "grpc", path: "" } }, 0);
          expect([action, type, org, allowed]).toEqual([action, type, org, open[type]?.includes(org) === true]);
        }
      }
    }
  });
});
