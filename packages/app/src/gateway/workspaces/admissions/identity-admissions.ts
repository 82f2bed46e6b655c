import type { IdentityAdmissions } from "../../people/index.ts";
import { participations } from "../workspaces/collections.ts";
import { admissions } from "./collections.ts";
import { endAdmission } from "./end.ts";

/** What this floor does for the people below it. */
export const identityAdmissions: IdentityAdmissions = {
  end: endAdmission,
  async endOf(unit, { org, id }, group) {
    for (const admission of await unit.list(admissions, "by_identity", [org, id])) {
      if (group === undefined || admission.via_group === group) await endAdmission(unit, admission.id);
    }
  },
  bound: async (unit, { org, id }) => (await unit.list(participations, "by_group", [org, id], { limit: 1 })).length > 0,
};
