import { gatewayContract } from "@seneschal/contract/gateway";
import { governanceContract } from "@seneschal/contract/governance";
import { schedulerContract } from "@seneschal/contract/scheduler";
import { storageContract } from "@seneschal/contract/storage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, openRig, type Rig } from "./rig.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const published = "certificates name it, and everybody who checks one fetches it";
const asset = "files of the program";
const readable = "where the operator lets everybody read it";

/** Every route that answers somebody without credentials and takes a name in its path: what that tells about the name. */
const routes: Readonly<Record<string, string>> = {
  enrollmentSetup: "without a token whether it waits for one, to who knows an id that nobody guesses",
  enrollAdmin: "nothing",
  certificateRevocationList: published,
  ocsp: published,
  ocspByGet: published,
  instanceAuthority: published,
  instanceRevocationList: published,
  serverOcspByGet: published,
  lineageAsset: asset,
  dashboardAsset: asset,
  getLineage: readable,
  getUpstream: readable,
  getDownstream: readable,
  viewLineage: readable,
  getJob: readable,
};

describe("routes that answer somebody without credentials", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  it("are known, where they take a name", () => {
    const contracts = [gatewayContract, governanceContract, schedulerContract, storageContract];
    const open = contracts
      .flatMap((contract) => Object.entries<{ readonly auth: string; readonly path: string }>(contract))
      .filter(([, { auth, path }]) => auth !== "principal" && path.includes("/:"));
    expect(open.map(([id]) => id).sort()).toEqual(Object.keys(routes).sort());
  });

  it("answer alike whether there is an admin of that id or not, whatever became of them, to a token that is not theirs", async () => {
    const acme = rig.admin("acme");
    const make = async (name: string): Promise<{ readonly id: string; readonly enrollment_token: string }> =>
      (await acme("POST", "/api/v1/identities/admins", { email: `${name}@acme.example`, name, role: "auditor" })).body;
    const [pending, disabled, deleted, other] = [
      await make("pending"),
      await make("off"),
      await make("gone"),
      await make("other"),
    ];
    expect((await acme("PUT", `/api/v1/identities/admins/${disabled.id}`, { active: false })).status).toBe(200);
    expect((await acme("DELETE", `/api/v1/identities/admins/${deleted.id}`)).status).toBe(204);
    const me = (await acme("GET", "/api/v1/identities/admins?limit=1000")).body.admins.find(
      ({ enrollment_status }: { readonly enrollment_status: string }) => enrollment_status === "active",
    );
    const ids = [nowhere, pending.id, disabled.id, deleted.id, me.id];
    const seen = ({ status, text, headers }: Answer, id: string): unknown => {
      const own = headers.get("x-request-id") ?? "";
      const names = [...headers.keys()].sort();
      return {
        status,
        names,
        text: text
          .replaceAll(id, "ID")
          .replaceAll(own, "REQUEST")
          .replace(/"timestamp":"[^"]*"/, ""),
      };
    };
    const tokens = ["senr_guess", other.enrollment_token, disabled.enrollment_token, deleted.enrollment_token];
    const asked: readonly (readonly [string, string, object?])[] = [
      ...tokens.map((token) => ["GET", `/setup?token=${token}`] as const),
      ...tokens.map((enrollment_token) => ["POST", "", { enrollment_token, csr: "x" }] as const),
    ];
    for (const [method, rest, body] of asked) {
      const answers = await Promise.all(
        ids.map(async (id) => seen(await rig.anonymous(method, `/api/v1/enrollment/admins/${id}${rest}`, body), id)),
      );
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size, JSON.stringify(answers)).toBe(1);
    }
    const mine = await rig.anonymous("GET", `/api/v1/enrollment/admins/${pending.id}/setup?token=${pending.enrollment_token}`);
    expect(mine.body).toMatchObject({ admin_id: pending.id, email: "pending@acme.example", enrollment_status: "pending" });
  });
});
