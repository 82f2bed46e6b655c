/** Plays a run of the model `models/custody/seats.qnt` through the routes of a password ceremony. */
import { systemRandom } from "@seneschal/adapters/system";
import { expect } from "vitest";
import type { Run } from "../../../../../tools/models.ts";
import { register } from "../registered.ts";
import type { ModelGateway } from "./model-gateway.ts";

const base = "/api/v1/crk/generate-ceremony";
const STATUS: Readonly<Record<string, number>> = { forbidden: 403, conflict: 409 };

interface Step {
  readonly step: "seed" | "complete" | "leave" | "restart";
  readonly who: number;
  readonly index: number;
  readonly outcome: string;
}

const bytes = (length: number): string => Buffer.from(systemRandom(length)).toString("base64");
const seed = (index: number) => ({ index, custodian_name: "whoever they say", derived_key: bytes(32), salt: bytes(16) });

/** What the routes say to the steps of a run, by their status, and what there is behind them: who sits where, by the model's accounts. */
export async function playSeats(
  { gateway, org }: { readonly gateway: ModelGateway; readonly org: string },
  { start, steps }: Run,
): Promise<{
  readonly statuses: readonly number[];
  readonly seats: readonly (readonly [number, number])[];
  readonly status: string;
}> {
  await gateway.begin(org);
  const chair = gateway.as("chair", org, "super_admin");
  const ids = new Map<number, string>();
  for (const who of [1, 2, 3, 4, 5]) {
    ids.set(who, await register(chair, `account-${who}`, `person-${who === 5 ? 1 : who}@people.example`));
  }
  const custodians = (start["named"] as readonly (readonly [number, number])[]).map(([index, who]) => ({
    index,
    identity_id: ids.get(who),
    identity_type: "user",
  }));
  const started = await chair("POST", `${base}/start`, { total_shares: 3, threshold: 2, custodians });
  const path = `${base}/${started.body.id}`;
  const statuses: number[] = [];
  for (const { step, who, index } of steps as unknown as readonly Step[]) {
    let status = 200;
    if (step === "seed") ({ status } = await gateway.as(`account-${who}`, org)("POST", `${path}/seed`, seed(index)));
    else if (step === "complete") ({ status } = await chair("POST", `${path}/complete`));
    else if (step === "leave") ({ status } = await chair("DELETE", `/api/v1/identities/users/${ids.get(who)}`));
    else await gateway.restart();
    statuses.push(status < 300 ? 200 : status);
  }
  const { body } = await chair("GET", path);
  const account = new Map([...ids].map(([who, id]) => [id, who]));
  const taken = body.seats.filter((seat: { taken_at: string | null }) => seat.taken_at !== null);
  const seats = taken.map((seat: { index: number; identity_id: string }) => [seat.index, account.get(seat.identity_id)]);
  return { statuses, seats, status: body.status };
}

export async function replaySeats(place: { readonly gateway: ModelGateway; readonly org: string }, run: Run): Promise<void> {
  expect(await playSeats(place, run)).toEqual({
    statuses: (run.steps as unknown as readonly Step[]).map(({ outcome }) => STATUS[outcome] ?? 200),
    seats: (run.end["seats"] as readonly (readonly [number, number])[]).toSorted(([a], [b]) => a - b),
    status: run.end["status"],
  });
}
