import type { CallOptions, Client, Metadata, ServiceError } from "@grpc/grpc-js";
import { checkOptions } from "@seneschal/kernel";
import { grpc } from "../grpc.ts";
import type { AttemptError } from "../log/settle-append.ts";
import { methodOf } from "./protocol.ts";
import { channelCredentials, type EtcdTls, tlsFingerprint } from "./tls.ts";

/** How to reach an etcd cluster. */
export interface EtcdOptions {
  /** `https://host:2379`, one per member. `http:` only on loopback. */
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTls;
  readonly auth?: { readonly username: string; readonly password: string };
  /** One try of one call, in milliseconds: 400 within a LAN to 1,500. Default 1,000. */
  readonly tryMs?: number;
  /** All tries of one operation. Default 10,000. */
  readonly totalMs?: number;
}

/** A try that never left: the connection was not there in time. */
class NotSent extends Error {
  override readonly name = "NotSent";
}

/** An open stream to one member. */
export interface EtcdStream {
  write(message: object): void;
  cancel(): void;
}

const channelOptions = {
  "grpc.enable_retries": 0,
  "grpc.use_local_subchannel_pool": 1,
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 1000,
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 3000,
  "grpc.max_receive_message_length": 32 * 1024 * 1024,
};

/** Codes that a member gives without having done anything, and always would. */
const definite = ["INVALID_ARGUMENT", "PERMISSION_DENIED", "UNIMPLEMENTED", "FAILED_PRECONDITION"] as const;

function isDefinite(error: unknown): boolean {
  const { code } = error as Partial<ServiceError>;
  return definite.some((name) => grpc().status[name] === code);
}

/**
 * What a failed try means for a write. Only codes count, never texts: whatever is not listed may have been applied.
 * Source: measured classes of the store and consensus brief, section 2.4.
 */
export function classifyEtcdError(error: unknown): AttemptError {
  if (error instanceof NotSent) return "not_sent";
  const { code } = error as Partial<ServiceError>;
  if (code === grpc().status.RESOURCE_EXHAUSTED) return "full";
  return isDefinite(error) ? "definite" : "ambiguous";
}

/**
 * A thin etcd v3 client: one channel per member, own rotation to the next member after any error, the leader preferred,
 * no retries by the library. It never repeats a call by itself, but for a missing or expired token, which etcd refuses
 * before doing anything.
 */
export class EtcdClient {
  readonly tryMs: number;
  readonly totalMs: number;
  readonly #options: EtcdOptions;
  #channels: Client[] = [];
  #fingerprint = "";
  #current = 0;
  #token: Promise<string> | undefined;
  #seeking = false;
  #closed = false;

  constructor(options: EtcdOptions) {
    checkOptions("options", options, {
      endpoints: "array",
      tls: "object?",
      auth: "object?",
      tryMs: "number?",
      totalMs: "number?",
    });
    if (options.tls !== undefined)
      checkOptions("options.tls", options.tls, { caFile: "string", certFile: "string?", keyFile: "string?" });
    if (options.auth !== undefined) checkOptions("options.auth", options.auth, { username: "string", password: "string" });
    if (options.endpoints.length === 0) throw new TypeError("no etcd endpoint is given");
    for (const endpoint of options.endpoints) {
      const { protocol, hostname, host } = new URL(endpoint);
      const loopback = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
      if (protocol !== "https:" && !loopback) throw new TypeError(`etcd endpoint ${host}: only loopback may go without TLS`);
      if (protocol === "https:" && options.tls === undefined) throw new TypeError(`etcd endpoint ${host} needs tls`);
    }
    this.#options = options;
    this.tryMs = options.tryMs ?? 1000;
    this.totalMs = options.totalMs ?? 10_000;
  }

  /** Sends one request to the current member, once. An error rotates to the next one. */
  async call<Reply>(name: string, request: object, tryMs = this.tryMs): Promise<Reply> {
    const at = this.#current;
    try {
      return await this.#callMember<Reply>(at, name, request, tryMs);
    } catch (error) {
      if (!isDefinite(error) && this.#current === at) this.#rotate();
      throw error;
    }
  }

  /** Repeats a call that is safe to repeat (reads, idempotent writes) until the total time is up. */
  async persist<Reply>(name: string, request: object): Promise<Reply> {
    const deadline = Date.now() + this.totalMs;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.call<Reply>(name, request, Math.min(this.tryMs, Math.max(1, deadline - Date.now())));
      } catch (error) {
        const kind = classifyEtcdError(error);
        if (kind === "definite" || kind === "full" || this.#closed || Date.now() >= deadline) throw error;
        await new Promise((resolve) =>
          setTimeout(resolve, Math.min(100, 10 * 2 ** Math.min(attempt, 4)) * (0.5 + Math.random() / 2)),
        );
      }
    }
  }

  /** Asks every member; gives a slot per endpoint, `undefined` for those that do not answer. */
  async callAll<Reply>(name: string, request: object): Promise<readonly (Reply | undefined)[]> {
    return Promise.all(
      this.#options.endpoints.map((_, at) => this.#callMember<Reply>(at, name, request, this.tryMs).catch(() => undefined)),
    );
  }

  /** Asks one member by its place among the endpoints. */
  callAt<Reply>(at: number, name: string, request: object, tryMs = this.tryMs): Promise<Reply> {
    return this.#callMember<Reply>(at, name, request, tryMs);
  }

  /** Opens a stream to the current member, which must have a leader. `end` is called once, whatever ends it. */
  async stream<Message>(name: string, onMessage: (message: Message) => void, onEnd: () => void): Promise<EtcdStream> {
    const at = this.#current;
    const channel = await this.#ready(at, this.tryMs);
    const { path, requestSerialize, responseDeserialize } = methodOf(name);
    const metadata = await this.#metadata(at);
    metadata.set("hasleader", "true");
    const stream = channel.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
    let ended = false;
    const end = (): void => {
      if (ended) return;
      ended = true;
      if (this.#current === at && !this.#closed) this.#rotate();
      onEnd();
    };
    stream.on("data", (message: object) => onMessage(message as Message));
    stream.on("error", end);
    stream.on("end", end);
    return { write: (message) => void stream.write(message), cancel: () => stream.cancel() };
  }

  /** Turns to the member that leads. */
  async preferLeader(): Promise<void> {
    const members = await this.callAll<{ readonly header: { readonly member_id: string }; readonly leader: string }>(
      "Maintenance.Status",
      {},
    );
    const leading = members.findIndex((member) => member !== undefined && member.leader === member.header.member_id);
    if (leading >= 0) this.#current = leading;
  }

  close(): void {
    this.#closed = true;
    for (const channel of this.#channels) channel.close();
    this.#channels = [];
  }

  #rotate(): void {
    this.#current = (this.#current + 1) % this.#options.endpoints.length;
    if (this.#seeking || this.#options.endpoints.length === 1) return;
    this.#seeking = true;
    void this.preferLeader().finally(() => {
      this.#seeking = false;
    });
  }

  async #callMember<Reply>(at: number, name: string, request: object, tryMs: number): Promise<Reply> {
    const deadline = Date.now() + tryMs;
    const channel = await this.#ready(at, tryMs);
    try {
      return await unary<Reply>(channel, name, request, await this.#metadata(at), { deadline });
    } catch (error) {
      if (!this.#refusedToken(error)) throw error;
      this.#token = undefined;
      return await unary<Reply>(channel, name, request, await this.#metadata(at), { deadline: Date.now() + tryMs });
    }
  }

  /** Without a usable token etcd refuses before it does anything: 16, or 3 for none at all. */
  #refusedToken(error: unknown): boolean {
    if (this.#options.auth === undefined) return false;
    const { code } = error as Partial<ServiceError>;
    return code === grpc().status.UNAUTHENTICATED || code === grpc().status.INVALID_ARGUMENT;
  }

  async #metadata(at: number): Promise<Metadata> {
    const metadata = new (grpc().Metadata)();
    const { auth } = this.#options;
    if (auth === undefined) return metadata;
    this.#token ??= this.#authenticate(at, auth);
    try {
      metadata.set("token", await this.#token);
    } catch (error) {
      this.#token = undefined;
      throw new NotSent("authentication failed", { cause: error });
    }
    return metadata;
  }

  async #authenticate(
    at: number,
    { username, password }: { readonly username: string; readonly password: string },
  ): Promise<string> {
    const channel = await this.#ready(at, this.tryMs);
    const request = { name: username, password };
    const reply = await unary<{ readonly token: string }>(channel, "Auth.Authenticate", request, new (grpc().Metadata)(), {
      deadline: Date.now() + this.tryMs,
    });
    return reply.token;
  }

  /** The member's channel once it is connected; what fails here was not sent. A member known to be away fails at once. */
  async #ready(at: number, tryMs: number): Promise<Client> {
    const client = this.#channel(at);
    const channel = client.getChannel();
    const { connectivityState } = grpc();
    const deadline = Date.now() + tryMs;
    for (;;) {
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) return client;
      const gone = state === connectivityState.TRANSIENT_FAILURE || state === connectivityState.SHUTDOWN;
      if (gone || Date.now() >= deadline) throw new NotSent(`no connection to ${this.#options.endpoints[at]}`);
      await new Promise<void>((resolve) => channel.watchConnectivityState(state, deadline, () => resolve()));
    }
  }

  #channel(at: number): Client {
    if (this.#closed) throw new NotSent("the client is closed");
    const fingerprint = tlsFingerprint(this.#options.tls);
    if (this.#channels.length === 0 || fingerprint !== this.#fingerprint) {
      for (const channel of this.#channels) channel.close();
      this.#fingerprint = fingerprint;
      const { Client } = grpc();
      this.#channels = this.#options.endpoints.map(
        (endpoint) => new Client(new URL(endpoint).host, channelCredentials(this.#options.tls), channelOptions),
      );
    }
    return this.#channels[at] as Client;
  }
}

function unary<Reply>(channel: Client, name: string, request: object, metadata: Metadata, options: CallOptions): Promise<Reply> {
  const { path, requestSerialize, responseDeserialize } = methodOf(name);
  return new Promise((resolve, reject) => {
    channel.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, options, (error, reply) => {
      if (error === null) resolve(reply as Reply);
      else reject(error);
    });
  });
}
