// Pulls an OCI artifact with the library of Flux's command line, and unpacks its first layer as source-controller does: as a
// tar that is compressed with gzip, whatever the media type.
// Usage: flux-oci HOST/REPOSITORY@DIGEST FOLDER
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/fluxcd/pkg/oci"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, reference, folder string) error {
	artifact, err := oci.NewClient(oci.DefaultOptions()).Pull(ctx, reference, folder, oci.WithPullLayerType(oci.LayerTypeTarball))
	if err != nil {
		return err
	}
	_, err = fmt.Println(artifact.Digest)
	return err
}
