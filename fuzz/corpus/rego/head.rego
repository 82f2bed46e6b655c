package t

p := [y | x := 1]
