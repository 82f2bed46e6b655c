/** One custodian in a process of its own: takes a turn in a ceremony at the gateway each time that it is told to, and says what that came to and took. */
import { mtlsFetch } from "@seneschal/adapters/http";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { fromBase64 } from "@seneschal/crypto";
import {
  admitEntry,
  type CeremonyState,
  CustodianKeys,
  ceremonyStep,
  type TranscriptView,
  takeSeat,
} from "@seneschal/crypto/custody";

export interface CustodianOrders {
  /** Of the ceremony. */
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  /** Base64. */
  readonly keys: string;
}

export interface TurnReport {
  readonly outcome: string;
  /** Processor seconds since the orders came, and since the process began. */
  readonly work: number;
  readonly whole: number;
}

const next = <T>(): Promise<T> => new Promise((resolve) => process.once("message", (message) => resolve(message as T)));
const processor = (since?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
};

process.send?.("ready");
const { url, ca, token, ...orders } = await next<CustodianOrders>();
const began = process.cpuUsage();
const http = mtlsFetch({ ca });
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
const keys = new CustodianKeys(nodeCrypto, fromBase64(orders.keys));
let state: CeremonyState | undefined;

let known = { entries: 0, view: undefined as TranscriptView | undefined };

/** The transcript as it stands now: what was admitted before is not judged again. */
async function read(): Promise<TranscriptView> {
  const file = await http.fetch(`${url}/transcript`, { headers });
  const lines = (await file.text()).split("\n").slice(0, -1);
  for (const line of lines.slice(known.entries)) {
    const admission = admitEntry(nodeCrypto, known.view, JSON.parse(line));
    if (!admission.admitted) throw new Error(admission.reason);
    known = { entries: known.entries + 1, view: admission.view };
  }
  if (known.view === undefined) throw new Error("a transcript without entries");
  return known.view;
}

/** Reads, steps and sends; anew where somebody else was first. */
async function turn(confirm: string | undefined): Promise<Pick<TurnReport, "outcome">> {
  const view = await read();
  state ??= takeSeat(view, keys, systemRandom);
  const input = { keys, state, view, at: Math.floor(Date.now() / 1000), ...(confirm === undefined ? {} : { confirm }) };
  const step = ceremonyStep(nodeCrypto, input);
  state = step.state;
  for (const entry of step.entries) {
    const answer = await http.fetch(`${url}/entries`, { method: "POST", headers, body: JSON.stringify({ entry }) });
    const text = await answer.text();
    if (answer.status === 409 && text.includes('"chain"')) return turn(confirm);
    if (!answer.ok) throw new Error(text);
  }
  return { outcome: step.outcome.kind };
}

process.send?.("begun");
for (;;) {
  const told = await next<{ readonly confirm?: string } | "stop">();
  if (told === "stop") break;
  process.send?.({ ...(await turn(told.confirm)), work: processor(began), whole: processor() } satisfies TurnReport);
}
await http.close();
process.disconnect();
