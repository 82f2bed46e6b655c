import { type Workspace, workspaceStatus } from "@seneschal/core/keys";

/** A workspace as a member organisation sees it at `now`. */
export function workspaceView(workspace: Workspace, now: number) {
  const status = workspaceStatus(workspace, now);
  return Object.assign({}, workspace, {
    group_id: workspace.group_bindings[workspace.org_id] ?? null,
    owner_org_id: workspace.org_id,
    group_bindings: { ...workspace.group_bindings },
    participants: [...workspace.participants],
    participant_orgs: workspace.participants.map((participant) => participant.org_id),
    status,
    archived: status === "archived",
  });
}
