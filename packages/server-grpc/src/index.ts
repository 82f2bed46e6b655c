export { adminService, serveAdminService } from "./scheduler-server.ts";
export { serveGrpc } from "./storage-server.ts";
