import { type Agent, request } from "node:https";
import type { Address } from "../../../../tools/own-address.ts";

/** What the certificates of the gateways name. */
export const NAME = "gateway.seneschal.example";

export interface Answer {
  readonly status: number;
  readonly body: string;
}
export type Credentials = { readonly ca: string; readonly cert?: string; readonly key?: string };

/** A GET or, under a key, the making of a workspace that is named so; rejects where no answer comes. */
export function ask(
  at: Address & { readonly servername?: string },
  path: string,
  tls: Credentials,
  agent?: Agent,
  key?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = key === undefined ? {} : { "content-type": "application/json", "idempotency-key": key };
    const call = request(
      { servername: NAME, ...at, ...tls, path, agent: agent ?? false, method: key === undefined ? "GET" : "POST", headers },
      (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body })).on("error", reject);
      },
    );
    call.on("error", reject).setTimeout(120_000, () => call.destroy(new Error("no answer in two minutes")));
    call.end(key === undefined ? undefined : JSON.stringify({ name: key }));
  });
}
