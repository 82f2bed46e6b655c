# METADATA
# title: What a bucket's policy says of a request
# description: |
#   Decides `allow`, `deny` or `none` from the statements of an S3 bucket policy, as the gateway has read them: a statement applies when
#   its principals, actions and resources are the request's and all of its conditions hold. A `Deny` that applies wins.
#
#   input: {statements, account ("" for nobody), service ("" for none), action, resource, context: {key: text}}. Patterns are anchored regular expressions.
package storage.bucket_policy

default decision := "none"

decision := "deny" if {
	some statement in input.statements
	statement.effect == "Deny"
	applies(statement)
}

else := "allow" if {
	some statement in input.statements
	statement.effect == "Allow"
	applies(statement)
}

applies(statement) if {
	concerns_principal(statement.principal)
	concerns(statement.action, input.action)
	concerns(statement.resource, input.resource)
	every condition in statement.conditions {
		holds(condition)
	}
}

concerns_principal(principal) if {
	not principal.except
	named(principal)
}

concerns_principal(principal) if {
	principal.except
	not named(principal)
}

named(principal) if "*" in principal.accounts

named(principal) if {
	input.account != ""
	input.account in principal.accounts
}

named(principal) if {
	input.service != ""
	input.service in principal.services
}

concerns(selector, value) if {
	not selector.except
	matches(selector.patterns, value)
}

concerns(selector, value) if {
	selector.except
	not matches(selector.patterns, value)
}

matches(patterns, value) if {
	some pattern in patterns
	regex.match(pattern, value)
}

# A key that the request does not have: `IfExists` holds, and so does what demands another value than those listed.
holds(condition) if {
	condition.test != "null"
	not input.context[condition.key]
	condition.unless_absent
}

holds(condition) if {
	condition.test == "null"
	condition.absent
	not input.context[condition.key]
}

holds(condition) if {
	condition.test == "null"
	not condition.absent
	input.context[condition.key]
}

holds(condition) if {
	condition.test == "pattern"
	not condition.negated
	matches(condition.patterns, input.context[condition.key])
}

holds(condition) if {
	condition.test == "pattern"
	condition.negated
	not matches(condition.patterns, input.context[condition.key])
	input.context[condition.key]
}

holds(condition) if {
	condition.test == "address"
	not condition.negated
	within(condition.ranges, input.context[condition.key])
}

holds(condition) if {
	condition.test == "address"
	condition.negated
	not within(condition.ranges, input.context[condition.key])
	input.context[condition.key]
}

within(ranges, address) if {
	some range in ranges
	net.cidr_contains(range, address)
}
