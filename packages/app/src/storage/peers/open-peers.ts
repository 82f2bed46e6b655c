import { type DataChannel, openDataChannel, openRemoteDevices, type RemoteDevices } from "@seneschal/adapters/grpc-storage";
import { type ClusterNode, type EventQuery, type StorageEvent, storageError } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { BlobDevice, Clock } from "@seneschal/kernel/ports";
import type { Actor } from "../context.ts";
import { within } from "../within.ts";
import { type NewDevice, newDeviceRequest } from "./new-device.ts";
import { eventsReply, eventsRequest, type NodeReport, readReport } from "./node-report.ts";

/** A node as last heard of. */
export interface PeerView {
  readonly lastSeen: number;
  readonly report: NodeReport;
}

/** The other nodes of the cluster: how they are, and their devices. */
export interface Peers {
  /** Asks these nodes how they are. Never throws: a node that does not answer is not reachable. */
  sample(nodes: readonly ClusterNode[]): Promise<void>;
  /** Asks one node at once, because a call to it has failed. */
  suspect(node: ClusterNode): void;
  /** Heard of within 15 s, parsed, and self-reported ready, and not silent since. */
  reachable(node: string): boolean;
  view(node: string): PeerView | undefined;
  /** The node that answers at an address of the peers' port; `undefined`: none does. */
  whoIsAt(address: string): Promise<string | undefined>;
  /** The events that another node has; none when it does not answer. */
  events(node: ClusterNode, query: EventQuery): Promise<readonly StorageEvent[]>;
  /** Has another node open a directory as a device. Throws its refusal, `ShardUnavailable` when it does not answer. */
  addDevice(node: ClusterNode, device: NewDevice, actor: Actor): Promise<void>;
  /** A device that another node serves. */
  device(node: ClusterNode, id: string): BlobDevice;
  /** What this node shows the others and trusts about them from its next calls on. */
  setSecureContext(tls: NonNullable<PeersOptions["tls"]>): void;
  close(): void;
}

export interface PeersOptions {
  readonly nodeId: string;
  readonly clock: Clock;
  /** PEM. Absent: plaintext on loopback. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
  /** How long a call may take, milliseconds; default 5,000. */
  readonly timeoutMs?: number;
  readonly onReport: (report: NodeReport) => void;
}

const staleMs = 15_000;
/** Calls in a row without an answer that make a node unreachable before its last report is stale. */
const silentAfter = 2;

/** Connects to the other nodes when they are first asked. */
export function openPeers(options: PeersOptions): Peers {
  const { nodeId, clock, timeoutMs = 5000, onReport } = options;
  let tls = options.tls === undefined ? {} : { tls: options.tls };
  const views = new Map<string, PeerView>();
  const silent = new Map<string, number>();
  const channels = new Map<string, DataChannel>();
  const fragments = new Map<string, RemoteDevices>();
  const asking = new Map<string, Promise<void>>();

  const opened = <T>(known: Map<string, T>, address: string, open: () => T): T => {
    const found = known.get(address) ?? open();
    known.set(address, found);
    return found;
  };
  const channelTo = (address: string): DataChannel =>
    opened(channels, address, () => openDataChannel("seneschal.storage.v1.PeerService", { address, ...tls, timeoutMs }));
  const devicesAt = (address: string): RemoteDevices =>
    opened(fragments, address, () => openRemoteDevices({ address, ...tls, timeoutMs }));

  const askOnce = async (node: ClusterNode): Promise<void> => {
    try {
      // INVARIANT: every question ends, whatever the connection does: the next one must be asked.
      const answer = within(2 * timeoutMs, node.id, channelTo(node.peerAddress).ask("Status", {}));
      const report = readReport(await answer);
      if (report.node_id !== node.id) throw new Error(`${node.peerAddress} is not ${node.id}`);
      views.set(node.id, { lastSeen: clock.now(), report });
      silent.delete(node.id);
      onReport(report);
    } catch {
      silent.set(node.id, (silent.get(node.id) ?? 0) + 1);
    }
  };
  const ask = (node: ClusterNode): Promise<void> => {
    const running = asking.get(node.id) ?? askOnce(node).finally(() => asking.delete(node.id));
    asking.set(node.id, running);
    return running;
  };

  return {
    async sample(nodes) {
      await Promise.all(nodes.filter((n) => n.id !== nodeId && n.peerAddress !== "" && n.state !== "Evicted").map(ask));
    },
    suspect(node) {
      if (node.id !== nodeId) void ask(node);
    },
    reachable(node) {
      if (node === nodeId) return true;
      const view = views.get(node);
      return view?.report.ready === true && clock.now() - view.lastSeen <= staleMs && (silent.get(node) ?? 0) < silentAfter;
    },
    view: (node) => views.get(node),
    async whoIsAt(address) {
      try {
        return readReport(await within(timeoutMs, address, channelTo(address).ask("Status", {}))).node_id;
      } catch {
        return undefined;
      }
    },
    async events(node, query) {
      try {
        const answer = channelTo(node.peerAddress).ask("Events", eventsRequest.write(query));
        return eventsReply.read(await within(2 * timeoutMs, node.id, answer));
      } catch {
        return [];
      }
    },
    async addDevice(node, device, actor) {
      try {
        await channelTo(node.peerAddress).ask("AddDevice", newDeviceRequest.write(device, actor));
      } catch (error) {
        if (!isCoded(error, "Unavailable", "AuthenticationFailed")) throw error;
        throw storageError(
          "ShardUnavailable",
          `node ${node.id} does not answer: whether it has the device is not known`,
          {},
          error,
        );
      }
    },
    device: (node, id) => devicesAt(node.dataAddress).device(id),
    setSecureContext(next) {
      if (options.tls === undefined) return;
      tls = { tls: next };
      for (const channel of [...channels.values(), ...fragments.values()]) channel.setSecureContext(next);
    },
    close() {
      for (const channel of channels.values()) channel.close();
      for (const devices of fragments.values()) devices.close();
    },
  };
}
