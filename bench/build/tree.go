package main

import (
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
	if err := fetchLinux(dir); err != nil {
		fmt.Fprintf(os.Stderr, "build: no %s (%v): the source of Go instead\n", linuxPackage, err)
		out, err := exec.Command("go", "env", "GOROOT").Output()
		return filepath.Join(strings.TrimSpace(string(out)), "src"), err
	}
	return tree, nil
}

// fetchLinux downloads and unpacks the package into dir.
func fetchLinux(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	in := func(name string, args ...string) error {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		return cmd.Run()
	}
	if err := in("apt-get", "download", linuxPackage); err != nil {
		return err
	}
	debs, err := filepath.Glob(filepath.Join(dir, linuxPackage+"_*.deb"))
	if err != nil {
		return err
	}
	if len(debs) == 0 {
		return fmt.Errorf("apt-get left no package in %s", dir)
	}
	if err := in("dpkg-deb", "-x", debs[0], "deb"); err != nil {
		return err
	}
	return in("tar", "xf", filepath.Join("deb", "usr", "src", linuxPackage+".tar.xz"))
}
