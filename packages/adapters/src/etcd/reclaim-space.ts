import { checkArgument } from "@seneschal/kernel";
import type { EtcdClient } from "./etcd-client.ts";

interface StatusReply {
  readonly header: { readonly member_id: string };
  readonly leader: string;
}

interface AlarmReply {
  readonly alarms: readonly { readonly memberID: string; readonly alarm: number }[];
}

const noSpace = 1;

/**
 * Gives compacted space back and takes writes up again after `log_full`: defragments one member after the other, the
 * leader last, then disarms the NOSPACE alarms. Truncate (which compacts) first: deletions work while the alarm stands.
 * A member does not answer while it defragments. With authentication on the user needs the role root.
 */
export async function reclaimEtcdSpace(client: EtcdClient): Promise<void> {
  checkArgument("client", client, "object");
  const members = await client.callAll<StatusReply>("Maintenance.Status", {});
  const leads = (at: number): boolean => members[at]?.leader === members[at]?.header.member_id;
  const order = [...members.keys()].filter((at) => members[at] !== undefined).sort((a, b) => Number(leads(a)) - Number(leads(b)));
  for (const at of order) await client.callAt(at, "Maintenance.Defragment", {}, 60_000);
  const { alarms } = await client.persist<AlarmReply>("Maintenance.Alarm", { action: 0 });
  for (const { memberID, alarm } of alarms)
    if (alarm === noSpace) await client.persist("Maintenance.Alarm", { action: 2, memberID, alarm });
}
