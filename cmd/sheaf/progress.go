package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far long work is: a bar where standard error is a terminal,
// nothing where it is not. The nil progress shows nothing.
type progress struct {
	bar *progressbar.ProgressBar
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// newProgress starts a bar of work of a size that is not known yet. With inBytes
// the work is counted in bytes.
func (a *app) newProgress(what string, inBytes bool) *progress {
	if !isTerminal(a.stderr) {
		return nil
	}
	return &progress{progressbar.NewOptions64(-1,
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWriter(a.stderr),
		progressbar.OptionShowBytes(inBytes),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// set says how much of the work is done; a total of 0 is not known.
func (p *progress) set(done, total int64) {
	if p == nil {
		return
	}
	if total > 0 && p.bar.GetMax64() != total {
		p.bar.ChangeMax64(total)
	}
	// A bar that cannot be drawn is no reason to stop.
	_ = p.bar.Set64(done)
}

// end takes the bar away.
func (p *progress) end() {
	if p != nil {
		_ = p.bar.Clear()
		_ = p.bar.Exit()
	}
}
