import { type IdentityFetch, mtlsFetch } from "@seneschal/adapters/http";

/** What a call came to. */
interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the tour looks into replies of every shape
  readonly body: any;
}

/** Somebody who calls over HTTPS: with a client certificate, with a token, or with neither. */
export interface Caller {
  /** Throws unless the answer has the wanted status; `undefined` takes any below 300. */
  call(method: string, path: string, body?: unknown, want?: number): Promise<Answer>;
  close(): Promise<void>;
}

export function caller(
  base: string,
  identity: { readonly ca: string; readonly cert?: string; readonly key?: string; readonly token?: string },
): Caller {
  const { token, ...tls } = identity;
  const http: IdentityFetch = mtlsFetch(tls);
  return {
    async call(method, path, body, want) {
      const response = await http.fetch(`${base}${path}`, {
        method,
        headers: {
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const right = want === undefined ? response.status < 300 : response.status === want;
      if (!right) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      return { status: response.status, body: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text };
    },
    close: () => http.close(),
  };
}
