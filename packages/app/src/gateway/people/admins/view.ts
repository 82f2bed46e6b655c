import type { Admin } from "@seneschal/core/keys";

/** An admin as callers see it. `active` is what the interface's PUT takes. */
export function adminView(admin: Admin) {
  return { ...admin, active: admin.enrollment_status !== "disabled" };
}
