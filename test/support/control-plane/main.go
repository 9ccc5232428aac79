// One static binary that holds the control plane the tests and the demo run on:
// etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, kube-proxy.
// It owns nothing but the choice by first argument: every program is upstream's own
// command, unchanged, so that what is tested against is what clusters run.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

const usage = "usage: control-plane etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubelet|kube-proxy [flags]"

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	program := os.Args[1]
	os.Args = append([]string{program}, os.Args[2:]...)

	var command *cobra.Command
	switch program {
	case "etcd":
		etcdmain.Main(os.Args)
		return
	case "kube-apiserver":
		command = apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		command = controllermanager.NewControllerManagerCommand()
	case "kube-scheduler":
		command = scheduler.NewSchedulerCommand()
	case "kubelet":
		command = kubelet.NewKubeletCommand(context.Background())
	case "kube-proxy":
		command = proxy.NewProxyCommand()
	default:
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	os.Exit(cli.Run(command))
}
