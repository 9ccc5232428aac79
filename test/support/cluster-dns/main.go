// The cluster's name server, CoreDNS itself, with what a throw-away cluster needs: names of Services, and of
// the pods behind headless ones. Whatever else is asked does not exist: no question leaves the machine.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/template"
)

func init() {
	dnsserver.Directives = []string{"bind", "errors", "kubernetes", "template"}
}

func main() {
	coremain.Run()
}
