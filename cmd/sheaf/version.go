package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sheafdb/sheaf/internal/buildinfo"
)

func newVersion(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say what this program is: toolchain, kernels, formats",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info := buildinfo.Read()
			if asJSON {
				return a.printJSON(info)
			}
			_, err := fmt.Fprintf(a.stdout, "sheaf %s\ntoolchain %s %s\nkernels %s\nstore format %d\nsegment format %d\n",
				info.Version, info.Go, info.Platform, info.Kernels, info.StoreFormat, info.SegmentFormat)
			return err
		},
	}
	addJSON(cmd, &asJSON, "it")
	return cmd
}
