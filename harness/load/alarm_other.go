//go:build !linux

package load

func newKernelAlarm() (alarm, error) { return newTimerAlarm(), nil }
