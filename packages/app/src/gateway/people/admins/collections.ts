import type { Admin } from "@seneschal/core/keys";
import { keyText } from "../../../platform/index.ts";
import { collection } from "../../ground/index.ts";

export const admins = collection<Admin>("admins", {
  by_org: { key: (admin) => [admin.org_id, admin.created_at] },
  by_email: { key: (admin) => [admin.org_id, keyText(admin.email.toLowerCase())], unique: "an admin with that e-mail exists" },
  active_super: {
    key: (admin) => (admin.role === "super_admin" && admin.enrollment_status === "active" ? [admin.org_id] : undefined),
  },
});
