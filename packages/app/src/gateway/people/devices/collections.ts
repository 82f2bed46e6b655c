import type { Device } from "@seneschal/core/keys";
import { collection } from "../../ground/index.ts";

export const devices = collection<Device>("devices", {
  by_org: { key: (device) => [device.org_id, device.created_at] },
  by_serial: { key: (device) => [device.cert_serial], unique: "a device with that certificate is enrolled" },
});
