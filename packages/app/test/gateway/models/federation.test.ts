import fc from "fast-check";
import { expect, it } from "vitest";
import { type Answer, type Ask, type ModelGateway, modelGateways, numRuns, step, timeout } from "./model-gateway.ts";

const base = "/api/v1/federation";
const url = "https://127.0.0.1:1";

/** One organisation at its gateway, with its root key in hand. */
interface Side {
  readonly gateway: ModelGateway;
  readonly org: string;
  readonly call: Ask;
  /** Signs the body with the root key and sends it along. */
  signed(operation: string, resource: string, method: string, path: string, body: object): Promise<Answer>;
}

async function sideOf({ gateway, org }: { readonly gateway: ModelGateway; readonly org: string }): Promise<Side> {
  const call = gateway.as("root", org, "super_admin");
  const { body: key } = await call("POST", "/api/v1/crk/generate", { total_shares: 2, threshold: 2 });
  const shares = key.shares.map(({ index, data }: { index: number; data: string }) => ({ index, data }));
  return {
    gateway,
    org,
    call,
    async signed(operation, resource_id, method, path, body) {
      const { body: request } = await call("POST", "/api/v1/crk/signing-requests", { operation, resource_id, body });
      const sign = { shares, public_key: key.public_key, data: request.message };
      const { signature } = (await call("POST", "/api/v1/crk/sign", sign)).body;
      const field = /init|establish/.test(operation) ? "crk_signature" : "signature";
      return call(method, path, { ...body, [field]: signature });
    },
  };
}

/** The slow, obvious reference: what became of the federation with the one partner. */
interface Model {
  status: "none" | "pending" | "active" | "revoked";
  /** We signed the partner's request. */
  signed: boolean;
  /** The partner's certificate for us was brought in. */
  ready: boolean;
}

interface Real {
  readonly ours: Side;
  readonly partner: string;
  readonly theirs: { readonly certificate: string; readonly csr: string };
  /** What the partner signs for us. */
  readonly forUs: () => Promise<string>;
}

type Step = fc.AsyncCommand<Model, Real>;

/** After each step the record says what the reference says, and the partner's certificates live as long as it does. */
const event = (name: string, run: (model: Model, real: Real) => Promise<void>): Step =>
  step<Model, Real>(name, async (model, real) => {
    await run(model, real);
    const { ours, partner } = real;
    const { status, body } = await ours.call("GET", `${base}/${partner}`);
    if (model.status === "none") return expect(status).toBe(404);
    expect(body).toMatchObject({ status: model.status, outbound_ready: model.ready, partner_org_id: partner });
    const { items } = await ours.gateway.store.list("certificates", "by_subject", [ours.org, "partner"], { limit: 1000 });
    const good = items.filter(({ doc }) => doc["status"] === "active").map(({ doc }) => doc["subject_id"]);
    expect(good.length > 0).toBe(model.status === "active" && model.signed);
    expect(new Set(good).size).toBeLessThanOrEqual(1);
  });

const establish = (withRequest: boolean): Step =>
  event(`establish ${withRequest ? "with" : "without"} the partner's request`, async (model, { ours, partner, theirs }) => {
    const request = withRequest ? { partner_csr: theirs.csr } : {};
    const body = { partner_org_id: partner, partner_url: url, partner_cert: theirs.certificate, ...request };
    const { status } = await ours.signed("federation.establish", partner, "POST", `${base}/establish`, body);
    const may = model.status === "none" || model.status === "revoked" || (model.status === "pending" && withRequest);
    expect(status).toBe(may ? 201 : 409);
    if (may) Object.assign(model, { status: withRequest ? "active" : "pending", signed: withRequest, ready: false });
  });
const bringIn = event("bring in the partner's certificate", async (model, { ours, partner, forUs }) => {
  const body = { partner_org_id: partner, certificate: await forUs() };
  const { status } = await ours.signed("federation.import", partner, "POST", `${base}/certificate/import`, body);
  if (model.status === "none") return expect(status).toBe(404);
  expect(status).toBe(model.status === "revoked" ? 409 : 204);
  if (status === 204) Object.assign(model, { status: "active", ready: true });
});
const renew = event("renew", async (model, { ours, partner }) => {
  const { status, body } = await ours.signed("federation.renew-cert", partner, "POST", `${base}/${partner}/renew-cert`, {});
  if (model.status === "none") return expect(status).toBe(404);
  expect(status).toBe(model.status === "active" && model.signed ? 200 : 409);
  if (status === 200) expect(body.delivered).toBe(false);
});
const revoke = event("revoke", async (model, { ours, partner }) => {
  const body = { notify_partner: false, revoke_certs: true };
  const { status } = await ours.signed("federation.revoke", partner, "DELETE", `${base}/${partner}`, body);
  if (model.status === "none") return expect(status).toBe(404);
  expect(status).toBe(model.status === "revoked" ? 409 : 204);
  if (status === 204) Object.assign(model, { status: "revoked", ready: false });
});
const stranger = event("another organisation looks", async (_, { ours, partner }) => {
  const other = ours.gateway.as("root", `${ours.org}-other`, "super_admin");
  expect((await other("GET", `${base}/${partner}`)).status).toBe(404);
});
const sweep = event("sweep", async (_, { ours }) => ours.gateway.sweep());
const restart = event("restart", async (_, { ours }) => ours.gateway.restart());

const [here, there] = [modelGateways(), modelGateways()];
const init = async (side: Side) => (await side.signed("federation.init", "", "POST", `${base}/init`, {})).body;
/** One partner for all histories: only ours has one. */
let partner: Promise<{ readonly side: Side; readonly keys: Real["theirs"] }> | undefined;

async function openPartner() {
  const side = await sideOf({ gateway: (await there()).gateway, org: "partner" });
  return { side, keys: (await init(side)) as Real["theirs"] };
}

async function setUp(): Promise<Real> {
  const ours = await sideOf(await here());
  partner ??= openPartner();
  const { side: theirs, keys } = await partner;
  let signed: Promise<string> | undefined;
  const sign = async (): Promise<string> => {
    const mine = await init(ours);
    const body = { partner_org_id: ours.org, partner_url: url, partner_cert: mine.certificate, partner_csr: mine.csr };
    const { status, body: made } = await theirs.signed("federation.establish", ours.org, "POST", `${base}/establish`, body);
    expect(status).toBe(201);
    return made.certificate;
  };
  return { ours, partner: theirs.org, theirs: keys, forUs: () => (signed ??= sign()) };
}

it(
  "a federation is established, carried on and ended by signed steps in order only; its certificates end with it",
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.commands(
          [fc.boolean().map(establish), ...[bringIn, renew, revoke, stranger, sweep, restart].map((each) => fc.constant(each))],
          { maxCommands: 14, size: "max" },
        ),
        async (commands) => {
          const real = await setUp();
          const model: Model = { status: "none", signed: false, ready: false };
          await fc.asyncModelRun(() => ({ model, real }), commands);
        },
      ),
      { numRuns },
    ),
  timeout,
);
