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

/** A request as a server hands it over: bytes as received, nothing decoded but the path parameters. */
export interface WireRequest {
  readonly method: string;
  /** Path as received, without the query. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  /** A repeated key is an array. */
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  readonly remoteAddress: string;
  readonly peer?: PeerCertificate;
}

export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}
