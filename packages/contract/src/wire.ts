/** The client certificate as the TLS layer saw it. */
export interface PeerCertificate {
  readonly der: Uint8Array;
  /** Chain verified against the trust store by the TLS layer. */
  readonly authorized: boolean;
  /** OpenSSL's reason when it was not. */
  readonly error?: string;
  /** The TLS session was resumed: its verdict may be old. */
  readonly resumed: boolean;
}

/** Reads the whole body, at most `limit` bytes; `undefined` when it is longer. Called at most once. */
export type BodyReader = (limit: number) => Promise<Uint8Array | undefined>;

/** What a server hands to the dispatcher: the request line and headers as received, nothing decoded, the body unread. */
export interface Incoming {
  readonly method: string;
  /** The request target as received: path and query, or the absolute form. */
  readonly target: string;
  /** The path below which the service is mounted, `/keys`: the target begins with it, the service's own paths do not. Default "". */
  readonly basePath?: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Bytes, or a reader: then nothing is read before the caller is authenticated and authorised. */
  readonly body: Uint8Array | BodyReader;
  readonly remoteAddress: string;
  /** Why these bytes are no request; it is refused with this text, whatever else was read of it. */
  readonly broken?: string;
  readonly peer?: PeerCertificate;
  /** The caller's connection is encrypted, as far as the server knows. */
  readonly secure?: boolean;
  /** Calls back once when the connection closes before the reply is complete. */
  readonly onClose?: (callback: () => void) => void;
}

/** A request that found its route: path parameters and query are percent-decoded, not yet checked. */
export interface WireRequest extends Omit<Incoming, "target" | "broken"> {
  /** Path as received below the base path, without the query. */
  readonly path: string;
  readonly basePath: string;
  readonly params: Readonly<Record<string, string>>;
  /** A repeated key is an array. */
  readonly query: Readonly<Record<string, string | readonly string[]>>;
}

/** A reply ready to be written. Header names are lower-case. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}
