// Prints what BuildKit makes of a Dockerfile, by its own converter and without building: a line for each warning, and one for
// each RUN with the architecture on which it would run. Refuses nothing; images are taken as present.
//
//	dockerfile-plan DOCKERFILE BUILD-PLATFORM TARGET-PLATFORM
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/containerd/platforms"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerui"
	"github.com/moby/buildkit/solver/pb"
	digest "github.com/opencontainers/go-digest"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

type presentImages struct{}

func (presentImages) ResolveImageConfig(_ context.Context, ref string, opt sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	image := ocispecs.Image{Platform: *opt.ImageOpt.Platform}
	image.RootFS.Type = "layers"
	image.RootFS.DiffIDs = []digest.Digest{digest.FromString(ref)}
	config, err := json.Marshal(image)
	return ref, digest.FromBytes(config), config, err
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	target := must(platforms.Parse(os.Args[3]))
	result := must(convert(must(os.ReadFile(os.Args[1])), must(platforms.Parse(os.Args[2])), target))
	definition := must(result.State.Marshal(context.Background()))
	for _, bytes := range definition.Def {
		var op pb.Op
		must(0, op.UnmarshalVT(bytes))
		if exec := op.GetExec(); exec != nil {
			fmt.Printf("run %s %s\n", op.Platform.GetArchitecture(), strings.ReplaceAll(strings.Join(exec.Meta.Args, " "), "\n", " "))
		}
	}
}

func convert(dockerfile []byte, build ocispecs.Platform, target ocispecs.Platform) (*dockerfile2llb.Result, error) {
	return dockerfile2llb.Dockerfile2LLB(context.Background(), dockerfile, dockerfile2llb.ConvertOpt{
		Config:         dockerui.Config{BuildPlatforms: []ocispecs.Platform{build}},
		TargetPlatform: &target,
		MetaResolver:   presentImages{},
		Warn: func(rule, _, _, message string, _ []parser.Range) {
			fmt.Printf("warning %s: %s\n", rule, message)
		},
	})
}
