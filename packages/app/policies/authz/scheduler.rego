# METADATA
# title: Who may do what on the scheduler
# description: |
#   Decides every request after authentication. Denied by default; `reason` says why. Copy it, change it, and give the copy as
#   `authorization_policy` to replace it. What a role reaches inside of an action is decided by tenant and owner.
#
#   input: {subject: {id, type, org, roles, scopes, permissions}, action: "resource:verb", resource: {type, id, org, workspace},
#   context: {method, path}}; `org` is the tenant.
package scheduler.authz

default allow := false

allow if {
	some role in input.subject.roles
	role in grants[input.action]
}

reason := sprintf("this needs one of the roles %s", [concat(", ", grants[input.action])])

grants := {
	"tenant:create": {"system-admin"},
	"tenant:list": {"user", "tenant-admin", "system-admin", "accounting"},
	"tenant:read": {"user", "tenant-admin", "system-admin", "accounting"},
	"tenant:update": {"system-admin", "accounting"},
	"tenant:delete": {"system-admin"},
	"tenant:edits": {"tenant-admin", "system-admin", "accounting"},
	"usage:tenant": {"tenant-admin", "system-admin", "accounting"},
	"usage:user": {"user", "tenant-admin", "system-admin", "accounting"},
	"allocation:submit": {"user", "tenant-admin", "system-admin"},
	"allocation:list": {"user", "tenant-admin", "system-admin", "agent"},
	"allocation:read": {"user", "tenant-admin", "system-admin", "agent"},
	"allocation:cancel": {"user", "tenant-admin", "system-admin"},
	"allocation:suspend": {"user", "tenant-admin", "system-admin"},
	"allocation:resume": {"user", "tenant-admin", "system-admin"},
	"allocation:requeue": {"user", "tenant-admin", "system-admin"},
	"allocation:scale": {"user", "tenant-admin", "system-admin", "agent"},
	"allocation:report": {"agent", "system-admin"},
	"node:list": {"user", "tenant-admin", "system-admin", "accounting", "agent"},
	"node:read": {"user", "tenant-admin", "system-admin", "accounting", "agent"},
	"node:register": {"agent", "system-admin"},
	"node:report": {"agent", "system-admin"},
	"node:operate": {"system-admin"},
	"node:claim": {"user", "tenant-admin", "system-admin"},
	"node:release": {"user", "tenant-admin", "system-admin"},
	"system:status": {"user", "tenant-admin", "system-admin", "accounting", "agent"},
	"system:update": {"system-admin"},
	"system:cycle": {"system-admin"},
	"system:clock": {"system-admin"},
	"system:backup": {"system-admin"},
	"event:list": {"tenant-admin", "system-admin"},
	"audit:read": {"auditor", "system-admin"},
	"log:propose": {"peer"},
}
