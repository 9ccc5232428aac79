// Reads a Tekton Task from standard input and judges it as Tekton's admission webhook does: strict fields, defaults, then
// its own validation. Prints what is wrong and exits with 1.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	v1 "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := judge(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func judge() error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	var task v1.Task
	if err := yaml.UnmarshalStrict(text, &task); err != nil {
		return err
	}
	ctx := context.Background()
	task.SetDefaults(ctx)
	if err := task.Validate(ctx); err != nil {
		return err
	}
	return nil
}
