# METADATA
# title: Who may do what on the storage cluster
# description: |
#   Decides every request to the admin interface after authentication. Denied by default; `reason` says why. Copy it, change it, and
#   give the copy as `authorization_policy` to replace it.
#
#   input: {subject: {id, type, org, roles, scopes, permissions}, action, resource: {type, id, org, workspace},
#   context: {method, path}}. `subject.type` is `admin`, or `anonymous` without a credential.
#   data.settings.open_status: whether status may be read without a credential.
package storage.authz

default allow := false

allow if {
	data.settings.open_status
	input.action == "storage:read"
}

allow if {
	some role in input.subject.roles
	role in grants[input.action]
}

reason := "cluster admin authentication is needed" if input.subject.type == "anonymous"

else := sprintf("this needs one of the roles %s", [concat(", ", grants[input.action])])

grants := {
	"storage:read": {"cluster-admin", "sre-on-call", "sre-incident-response"},
	"storage:session": {"cluster-admin", "sre-on-call", "sre-incident-response"},
	"storage:operate": {"cluster-admin", "sre-incident-response"},
	"storage:admin": {"cluster-admin"},
}
