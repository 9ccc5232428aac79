// Krew, the plugin manager of kubectl, for the test of the plugin's manifest.
package main

import "sigs.k8s.io/krew/cmd/krew/cmd"

func main() { cmd.Execute() }
