package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// linuxPackage holds the source of Linux as Debian ships it.
const linuxPackage = "linux-source-6.1"

// sourceTree returns the source of Linux, fetched by apt when it was not yet; where
// there is no apt, or no such package, that of Go.
func sourceTree() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "sheaf-bench")
	tree := filepath.Join(dir, linuxPackage)
	if _, err := os.Stat(filepath.Join(tree, "Makefile")); err == nil {
		return tree, nil
	}
	fmt.Fprintf(os.Stderr, "build: no -tree: %s, once, by apt-get download, 140 MB, into %s (1.5 GB)\n", linuxPackage, dir)
	if err := fetchLinux(dir, tree); err != nil {
		out, gerr := exec.Command("go", "env", "GOROOT").Output()
		if gerr != nil {
			return "", errors.Join(err, gerr)
		}
		src := filepath.Join(strings.TrimSpace(string(out)), "src")
		fmt.Fprintf(os.Stderr, "build: that failed (%v): the source of Go, %s, instead, for which the bars are not meant\n", err, src)
		return src, nil
	}
	return tree, nil
}

// fetchLinux downloads and unpacks the package, and moves what is in it to tree, in
// dir, when it is whole. Nothing else stays.
func fetchLinux(dir, tree string) error {
	for _, tool := range []string{"apt-get", "dpkg-deb", "tar", "xz"} {
		if _, err := exec.LookPath(tool); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(dir, "fetch-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	in := func(name string, args ...string) error {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Stderr = work, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s %s: %w", name, args[0], err)
		}
		return nil
	}
	if err := in("apt-get", "download", linuxPackage); err != nil {
		return err
	}
	debs, err := filepath.Glob(filepath.Join(work, linuxPackage+"_*.deb"))
	if err != nil {
		return err
	}
	if len(debs) != 1 {
		return fmt.Errorf("apt-get download left %d packages", len(debs))
	}
	fmt.Fprintf(os.Stderr, "build: unpacking %s\n", filepath.Base(debs[0]))
	if err := in("dpkg-deb", "-x", debs[0], "deb"); err != nil {
		return err
	}
	if err := in("tar", "xf", filepath.Join("deb", "usr", "src", linuxPackage+".tar.xz")); err != nil {
		return err
	}
	return os.Rename(filepath.Join(work, linuxPackage), tree)
}
