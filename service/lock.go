package service

import (
	"context"
	"strconv"
	"time"
)

// lease is a lock that this process took: a record with the owner's name that the store drops by itself at the
// end of its life, so that an owner that died holds nobody up for longer than that.
type lease struct {
	key   Key
	owner string
	ends  time.Time // at the earliest: counted from before the store was asked
}

// lock takes the lock on an id, or answers ErrExists while another has it.
func (s *Service) lock(ctx context.Context, id string) (lease, error) {
	l := lease{
		key:   Key{Set: DataTypeLock, ID: id},
		owner: s.owner + "-" + strconv.FormatUint(s.locks.Add(1), 10),
		ends:  s.now().Add(s.lockTTL),
	}
	return l, s.store.Create(ctx, l.key, Bins{binOwner: l.owner}, s.lockTTL)
}

// unlock removes the lock if it is certainly still ours, and else leaves it to its expiry.
//
// Comparing the owner and deleting at the generation that was read with it is not enough: every new lock is of
// generation 1, so if ours expired between the read and the delete, and another took the lock there, the delete
// would remove the other's. Therefore it starts only in the first half of the lease, and gives up at three
// quarters of it; the last quarter is for a delete that is under way. A process that stalls between its last look
// at the clock and the delete for longer than that can still remove another's lock. That costs a second filler
// at the same time, not a wrong record: fillLocked only ever creates.
//
// The caller's context may have ended by now; the lock must go all the same.
func (s *Service) unlock(ctx context.Context, l lease) {
	left := l.ends.Sub(s.now())
	if left < s.lockTTL/2 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), left-s.lockTTL/4)
	defer cancel()
	held, err := s.store.Get(ctx, l.key)
	if err != nil || held.Bins[binOwner] != l.owner || l.ends.Sub(s.now()) < s.lockTTL/4 {
		return
	}
	// An error leaves the lock to its expiry, like a crash would; the caller has its record.
	_ = s.store.Delete(ctx, l.key, held.Generation)
}
