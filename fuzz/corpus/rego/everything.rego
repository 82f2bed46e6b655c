package t

# METADATA
# title: x
p contains x if {
	some i, x in input.x
	not i == 0
}

q[k] := v if some k, v in {"a": 1}

r := [y | some y in [1, 2]; y > 1]

s if every z in [1] { z > 0 }

f(null)
f(x) := x if x > 1
else := 3

u := $"{r} {f(2)}"

v if { q.a with input.x as [1] }
