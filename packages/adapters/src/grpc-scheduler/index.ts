export {
  ADMIN_PROTO,
  type AdminCall,
  type AdminHandler,
  type AdminServer,
  type AdminServerOptions,
  adminService,
  openAdminServer,
} from "./admin-server.ts";
