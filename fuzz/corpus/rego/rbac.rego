package authz

import data.roles as r

default allow := false

allow if {
	some role in r[input.user]
	role.action == input.action
}
