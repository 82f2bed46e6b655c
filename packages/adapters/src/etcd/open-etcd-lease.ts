import { checkOptions } from "@seneschal/kernel";
import type { Candidate, Holder, SequencerLease } from "../log/open-sequencer.ts";
import { EtcdClient, type EtcdOptions } from "./etcd-client.ts";
import { compareResult, compareTarget, type RangeReply, type TxnReply } from "./protocol.ts";

/** Options of {@link openEtcdLease}. */
export interface EtcdLeaseOptions extends EtcdOptions {
  /** The lease is the key `<prefix>/sequencer`. */
  readonly prefix: string;
  readonly self: Candidate;
  /** Default 5,000; whole seconds, as etcd counts them. */
  readonly ttlMs?: number;
}

/** A {@link SequencerLease} in etcd: a key bound to an etcd lease, created if absent. The term is its creation revision. */
export function openEtcdLease(options: EtcdLeaseOptions): SequencerLease & { close(): void } {
  checkOptions("options", options, {
    prefix: "string",
    self: "object",
    ttlMs: "number?",
    endpoints: "array",
    tls: "object?",
    auth: "object?",
    tryMs: "number?",
    totalMs: "number?",
  });
  const { prefix, self, ttlMs = 5000, ...connection } = options;
  const client = new EtcdClient(connection);
  const key = Buffer.from(`${prefix}/sequencer`);
  let leaseId: string | undefined;

  /** Renewing is a stream in etcd's API: one question, one answer. */
  const keepAlive = (id: string): Promise<boolean> =>
    new Promise((resolve) => {
      client
        .stream<{ readonly TTL: string }>(
          "Lease.LeaseKeepAlive",
          ({ TTL }) => resolve(Number(TTL) > 0),
          () => resolve(false),
        )
        .then((stream) => {
          stream.write({ ID: id });
          setTimeout(() => stream.cancel(), client.tryMs).unref();
        })
        .catch(() => resolve(false));
    });

  return {
    ttlMs,
    renew: async () => {
      if (leaseId !== undefined && !(await keepAlive(leaseId))) leaseId = undefined;
      if (leaseId === undefined) {
        const { ID } = await client.call<{ readonly ID: string }>("Lease.LeaseGrant", { TTL: Math.ceil(ttlMs / 1000), ID: 0 });
        leaseId = ID;
      }
      const { succeeded, header, responses } = await client.call<TxnReply>("KV.Txn", {
        compare: [{ key, target: compareTarget.create, result: compareResult.equal, create_revision: 0 }],
        success: [{ request_put: { key, value: Buffer.from(JSON.stringify(self)), lease: leaseId } }],
        failure: [{ request_range: { key } }],
      });
      if (succeeded) return { ...self, term: Number(header.revision) };
      return holderOf(responses[0]?.response_range);
    },
    release: async () => {
      if (leaseId !== undefined) await client.call("Lease.LeaseRevoke", { ID: leaseId });
      leaseId = undefined;
    },
    close: () => client.close(),
  };
}

function holderOf(reply: RangeReply | null | undefined): Holder {
  const kv = reply?.kvs[0];
  if (kv === undefined) throw new Error("the sequencer's key is gone");
  return { ...(JSON.parse(kv.value.toString()) as Candidate), term: Number(kv.create_revision) };
}
