package main

import (
	"os"
	"runtime"
	"syscall"
)

// A test runner that is killed outright cannot stop its servers, so they ask the kernel to be told:
// the signal follows the thread that asked, hence the lock.
func init() {
	runtime.LockOSThread()
	if os.Getenv("CONTROL_PLANE_DIES_WITH_PARENT") != "" {
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0)
	}
}
