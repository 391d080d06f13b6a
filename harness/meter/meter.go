// Package meter reads what a process has used so far. A figure of a window is the difference of two readings at
// its edges; nothing is sampled and averaged. It knows nothing of trials or roles.
package meter
