/** A decoded JSON body. */
export type Body = Readonly<Record<string, unknown>>;

/** What a route is given. `name` is the `:name` segment, the one that most routes have. */
interface Request {
  readonly name: string;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  /** Common name of the verified client certificate, if there is one. */
  readonly clientName?: string;
  /** The token of the call. */
  readonly token: string;
}

/** An answer: `data` and `auth` go into the usual envelope, `raw` goes out as it is. */
export interface Reply {
  readonly status?: number;
  readonly data?: unknown;
  readonly auth?: unknown;
  readonly raw?: { readonly type: string; readonly bytes: Uint8Array | string };
  /** A body without the envelope, as sys/ paths answer. */
  readonly plain?: unknown;
}

export interface Route {
  /** `LIST` is a GET with `?list=true`. */
  readonly method: "GET" | "POST" | "DELETE" | "LIST";
  /** Segments; `:x` takes one. */
  readonly path: string;
  /** Needs no token. */
  readonly open?: boolean;
  run(request: Request): Reply | Promise<Reply>;
}

/** An error answer `{errors: [...]}`. */
export class HttpFault extends Error {
  readonly status: number;
  readonly errors: readonly string[];

  constructor(status: number, errors: readonly string[]) {
    super(errors[0] ?? "");
    this.status = status;
    this.errors = errors;
  }
}
