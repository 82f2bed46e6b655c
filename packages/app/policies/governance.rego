# Decides data operations. Deny by default; a deny rule overrides every allow rule.
# Input: operation_type, classification {tier, rank, tags}, sources [{id, known, rank}], destination {id, known, accepts_rank} or null,
# user {user_id, role, department}, transformations (a row_filter with `applies`: every source has its column), purpose,
# approval {id, active, approved_by, expires_at} or null.
# Replace this file to change the rules; keep the shape of `decision`.
package governance

clearance := {
	"admin": 4, "administrator": 4, "data_steward": 4, "steward": 4, "dpo": 4, "privacy_officer": 4,
	"manager": 3, "auditor": 3, "compliance": 3, "data_owner": 3, "security": 3,
	"analyst": 2, "data_analyst": 2, "data_scientist": 2, "data_engineer": 2, "engineer": 2, "developer": 2, "service": 2,
	"employee": 1, "user": 1, "viewer": 1, "intern": 1, "contractor": 1,
}

reading := {"READ", "QUERY", "SELECT", "VIEW", "JOIN", "AGGREGATE", "ANALYZE"}

leaving := {"EXPORT", "SHARE", "COPY", "TRANSFER", "DOWNLOAD", "PUBLISH"}

changing := {"WRITE", "UPDATE", "INSERT", "TRANSFORM", "MERGE"}

removing := {"DELETE", "TRUNCATE", "DROP", "PURGE"}

known_operations := ((reading | leaving) | changing) | removing

operation := upper(input.operation_type)

role := lower(input.user.role)

rank := input.classification.rank

deny contains reason("unknown-operation", "Known operations only", "the operation type is not known") if not operation in known_operations

deny contains reason("unknown-role", "Known roles only", "the role is not known") if not clearance[role]

deny contains reason("unknown-source", "Known sources only", "a source resource is unknown or not visible to the caller") if {
	some source in input.sources
	not source.known
}

deny contains reason("missing-source", "Known sources only", "no source resource is named") if count(input.sources) == 0

deny contains reason("missing-destination", "Exports name their destination", "the operation needs a destination") if {
	operation in leaving
	input.destination == null
}

deny contains reason("unknown-destination", "Exports go to known destinations", "the destination is unknown or not visible to the caller") if {
	operation in leaving
	input.destination != null
	not input.destination.known
}

deny contains reason("destination-tier", "Destinations take data up to their tier", sprintf("the destination does not take %s data", [input.classification.tier])) if {
	operation in leaving
	input.destination.known
	input.destination.accepts_rank < rank
	not approved
}

deny contains reason("no-restricted-export", "RESTRICTED data stays where it is", "RESTRICTED data may not leave its place") if {
	operation in leaving
	rank >= 4
}

deny contains reason("role-clearance", "Roles see data up to their clearance", sprintf("the role may not use %s data", [input.classification.tier])) if {
	clearance[role] < rank
	not approved
	not need_to_know
}

deny contains reason("inactive-approval", "Approvals end", "the approval is unknown, over, or for another operation") if {
	input.approval != null
	not input.approval.active
}

deny contains reason("purpose-limitation", "Data is used for what it was collected for", "data of this kind is not used for this purpose") if {
	lower(input.purpose) in {"marketing", "advertising", "profiling", "resale", "model_training"}
	some tag in input.classification.tags
	tag in {"PHI", "PCI", "SPECIAL_CATEGORY", "CREDENTIALS"}
}

# Somebody else gave leave for this operation, for a time. It overcomes clearance and tiers of destinations, never the rule on RESTRICTED data.
approved if input.approval.active

# Who is cleared for INTERNAL data reads CONFIDENTIAL rows of their own (by `user_id`, never by a role or department that many have), or a few rows to see what the data is.
need_to_know if {
	operation in reading
	clearance[role] == 1
	rank == 2
	some change in input.transformations
	own_rows(change)
}

own_rows(change) if {
	change.type == "row_filter"
	change.applies
	lower(change.column) == "user_id"
	change.equals == input.user.user_id
	trim_space(change.equals) != ""
}

own_rows(change) if {
	change.type == "sample"
	change.rows <= 100
}

allow contains reason("read-within-clearance", "Read within clearance", "the role may read data of this tier") if operation in reading

allow contains reason("export-within-clearance", "Export to a destination that takes the tier", "role and destination take data of this tier") if operation in leaving

allow contains reason("approved", "Approved by somebody else for a time", "the operation was approved") if {
	approved
	operation in known_operations
}

allow contains reason("write-within-clearance", "Write within clearance", "the role may change data of this tier") if {
	operation in changing
	clearance[role] >= 2
}

allow contains reason("delete-by-steward", "Deletion by stewards", "the role may delete data") if {
	operation in removing
	clearance[role] >= 3
}

obligations contains {"type": "transform", "id": "apply-transformations", "properties": {"transformations": input.transformations}} if {
	count(input.transformations) > 0
}

obligations contains {"type": "row_filter", "id": "keep-own-rows", "properties": {"column": change.column, "equals": change.equals}} if {
	some change in input.transformations
	change.type == "row_filter"
}

obligations contains {"type": "expiry", "id": "approval-ends", "properties": {"until": input.approval.expires_at}} if approved

obligations contains {"type": "retention", "id": "delete-copies", "properties": {"days": 30}} if {
	operation in leaving
	rank >= 2
}

obligations contains {"type": "notice", "id": "record-access", "properties": {"to": "data-owner"}} if rank >= 3

reason(id, name, text) := {"policy_id": id, "policy_name": name, "text": text}

default decision := {
	"allowed": false,
	"policy_id": "default-deny",
	"policy_name": "Deny by default",
	"reasons": ["no policy allows the operation"],
	"obligations": [],
}

decision := {
	"allowed": false,
	"policy_id": first.policy_id,
	"policy_name": first.policy_name,
	"reasons": [d.text | some d in sort(deny)],
	"obligations": [],
} if {
	count(deny) > 0
	first := sort(deny)[0]
}

decision := {
	"allowed": true,
	"policy_id": first.policy_id,
	"policy_name": first.policy_name,
	"reasons": [a.text | some a in sort(allow)],
	"obligations": sort(obligations),
} if {
	count(deny) == 0
	count(allow) > 0
	first := sort(allow)[0]
}

# What language models are told and what they say, in the document `model_decision`. Input: direction ("prompt" or "completion"), endpoint, model, subject {id, org, scopes},
# accepts_rank (the highest tier that the models are told), tiers (lowest first), classification {tier, rank, tags} of the texts as they came, remaining {tier, rank, tags} of
# what stands in them after hiding, entities (hidden), flags [{kind: "secret" or "prompt_injection", id, role}], media (kinds of parts that are no text).
# Obligations that the service carries out: `redaction` {of: "prompt" or "completion", rules}, `notice`; with any other the answer counts as denied.
model_deny contains reason("model-tier", "Models are told data up to their tier", sprintf("the model may not be told %s data", [input.remaining.tier])) if {
	input.direction == "prompt"
	not input.remaining.rank <= input.accepts_rank
}

model_deny contains reason("model-media", "Models are told what was read", "parts that are no text cannot be read") if count(input.media) > 0

# What comes from elsewhere has nothing to say to the model; who asks may try what they like with their own talk.
model_deny contains reason("model-injection", "Data gives no orders", sprintf("a text of the role %s gives orders to the model (%s)", [flag.role, flag.id])) if {
	input.direction == "prompt"
	some flag in input.flags
	flag.kind == "prompt_injection"
	flag.role in {"tool", "function"}
}

model_allow contains reason("model-use", "Models may be used for what they may be told", "what is sensitive is hidden") if input.direction in {"prompt", "completion"}

# Of what a model says of its own, only the highest tier is hidden: names of the world are no secret.
model_obligations contains {"type": "redaction", "id": "hide-in-completions", "properties": {"of": "completion", "rules": [
	{"tier": input.tiers[count(input.tiers) - 1], "operator": "replace"},
	{"operator": "keep"},
]}} if {
	input.direction == "prompt"
}

model_obligations contains {"type": "notice", "id": "record-flags", "properties": {"flags": input.flags}} if count(input.flags) > 0

verdict(allowed, found, duties) := {
	"allowed": allowed,
	"policy_id": first.policy_id,
	"policy_name": first.policy_name,
	"reasons": [each.text | some each in sort(found)],
	"obligations": sort(duties),
} if {
	first := sort(found)[0]
}

model_decision := verdict(false, model_deny, set()) if {
	count(model_deny) > 0
} else := verdict(true, model_allow, model_obligations) if {
	count(model_allow) > 0
}
