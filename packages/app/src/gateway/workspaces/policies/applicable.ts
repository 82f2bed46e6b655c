import type { Reader } from "../../ground/index.ts";
import { type Policy, policies } from "./collections.ts";

/** What restricts an organisation's identities in a workspace: the workspace's policies and the organisation's own, newest first. */
export async function applicablePolicies(read: Reader, org: string, workspace: string): Promise<readonly Policy[]> {
  const [bound, wide] = await Promise.all([
    read.list(policies, "by_workspace", [workspace]),
    read.list(policies, "org_wide", [org]),
  ]);
  return [...bound, ...wide].toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
}
