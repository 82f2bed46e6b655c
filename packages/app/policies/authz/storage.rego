# METADATA
# title: Who may do what on the storage cluster
# description: |
#   Decides every request to the admin interface, every call of the gRPC services and every S3 request after authentication. Denied by
#   default; `reason` says why. Copy it, change it, and give the copy as `authorization_policy` to replace it.
#
#   input: {subject: {id, type, org, roles, scopes, permissions}, action, resource: {type, id, org, workspace},
#   context: {method, path}}. `subject.type` is `admin`, or `anonymous` without a credential; on the data path `tenant`, `server`,
#   `keyserver`, `admin` by the certificate's organizational unit, or `loopback` where a node trusts its loopback. `subject.org` is a
#   tenant's name, `resource.org` that of the tenant whose objects the call is about.
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

# objects: a tenant's own; a node of the cluster must name whose
allow if {
	input.action in object_actions
	input.resource.org != ""
	reaches_tenants
}

reaches_tenants if {
	input.subject.type == "tenant"
	input.subject.org == input.resource.org
}

reaches_tenants if input.subject.type in {"server", "loopback"}

allow if {
	input.subject.type == "loopback"
	input.action in {"peers:use", "keys:use", "cluster:maintain", "storage:admin"}
}

object_actions := {"objects:read", "objects:write"}

reason := "cluster admin authentication is needed" if input.subject.type == "anonymous"

else := "the certificate is another tenant's" if {
	input.action in object_actions
	input.subject.type == "tenant"
}

else := "the call must name a tenant" if {
	input.action in object_actions
	reaches_tenants
}

else := "this certificate reaches no tenant's data" if input.action in object_actions

else := sprintf("this needs one of the roles %s", [concat(", ", grants[input.action])])

grants := {
	"storage:read": {"cluster-admin", "sre-on-call", "sre-incident-response"},
	"storage:session": {"cluster-admin", "sre-on-call", "sre-incident-response"},
	"storage:operate": {"cluster-admin", "sre-incident-response"},
	"storage:admin": {"cluster-admin"},
	"peers:use": {"store-server"},
	"keys:use": {"store-server", "store-keyserver"},
	"cluster:maintain": {"store-server", "cluster-admin"},
}
