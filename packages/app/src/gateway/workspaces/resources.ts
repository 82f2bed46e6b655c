import { admissionHandlers } from "./admissions.ts";
import { joinRequestHandlers } from "./join-requests.ts";
import { policyHandlers } from "./policies.ts";
import { workspaceHandlers } from "./workspaces/handlers.ts";

export const workspacesHandlers = {
  ...workspaceHandlers,
  ...admissionHandlers,
  ...policyHandlers,
  ...joinRequestHandlers,
};
