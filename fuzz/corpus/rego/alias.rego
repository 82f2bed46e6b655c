package t

# METADATA
# title: *x
p := 1
