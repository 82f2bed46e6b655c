package t

r if { not (input.a | input.b) }
